/** Files whose length is known because they are made here. */

/** Silence as PCM. */
export function wavOf(
  seconds: number,
  { sampleRate = 8000, dataBytes }: { sampleRate?: number; dataBytes?: number } = {},
): Buffer {
  const data = Buffer.alloc(dataBytes ?? Math.round(seconds * sampleRate), 128)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

const FRAME_SECONDS = 1152 / 44_100

/** Frames of MPEG-1 layer III with 128 kbit/s at 44.1 kHz, without anything before them unless told. */
export function mp3Of(seconds: number, before: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  const frames = Array.from({ length: Math.round(seconds / FRAME_SECONDS) }, () => frame)
  return Buffer.concat([before, ...frames])
}

/** A first frame that claims the file has so many frames. */
export function xingFrame(claimedFrames: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  frame.write('Xing', 4 + 17)
  frame.writeUInt32BE(1, 4 + 17 + 4)
  frame.writeUInt32BE(claimedFrames, 4 + 17 + 8)
  return frame
}

/** What a browser records: clusters of a second with blocks of 20 ms, and no duration in the head. */
export function webmOf(seconds: number): Buffer {
  const head = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from('webm')))
  const info = element([0x15, 0x49, 0xa9, 0x66], element([0x2a, 0xd7, 0xb1], bytesOf(1_000_000)))
  const clusters = Array.from({ length: seconds }, (_, second) => {
    const blocks = Array.from({ length: 50 }, (_block, index) => {
      const block = Buffer.alloc(40)
      block[0] = 0x81
      block.writeInt16BE(index * 20, 1)
      return element([0xa3], block)
    })
    return Buffer.concat([
      Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      element([0xe7], bytesOf(second * 1000)),
      ...blocks,
    ])
  })
  const segment = Buffer.from([0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
  return Buffer.concat([head, segment, info, ...clusters])
}

function element(id: readonly number[], data: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(0x10_00_00_00 + data.length)
  return Buffer.concat([Buffer.from(id), size, data])
}

function bytesOf(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
