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

/** Packets of Opus with 20 ms each, fifty on a page; the pages claim that no time passes. */
export function opusOf(seconds: number): Buffer {
  const packet = Buffer.alloc(100, 1)
  packet[0] = 9 << 3
  const pages = Array.from({ length: seconds }, () => oggPage(Array.from({ length: 50 }, () => packet)))
  return Buffer.concat([
    oggPage([Buffer.from('OpusHead...')]),
    oggPage([Buffer.from('OpusTags...')]),
    ...pages,
  ])
}

function oggPage(packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(27)
  head.write('OggS')
  head[26] = packets.length
  return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets])
}

/** A track of sound with samples of 20 ms, whose heads claim a second. */
export function m4aOf(seconds: number): Buffer {
  const header = Buffer.alloc(24)
  header.writeUInt32BE(48_000, 12)
  header.writeUInt32BE(48_000, 16)
  const handler = Buffer.alloc(24)
  handler.write('soun', 8)
  const times = Buffer.alloc(16)
  times.writeUInt32BE(1, 4)
  times.writeUInt32BE(seconds * 50, 8)
  times.writeUInt32BE(960, 12)
  const table = box('minf', box('stbl', box('stts', times)))
  const track = box('trak', box('mdia', box('mdhd', header), box('hdlr', handler), table))
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A ')),
    box('mdat', Buffer.alloc(1000)),
    box('moov', track),
  ])
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + data.length)
  head.write(type, 4)
  return Buffer.concat([head, data])
}
