/** Builds audio files of a known length. */

/** Returns a WAV file with silence as PCM. */
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

/** Returns frames of MPEG-1 layer III with 128 kbit/s at 44.1 kHz, after the optional bytes in `before`. */
export function mp3Of(seconds: number, before: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  const frames = Array.from({ length: Math.round(seconds / FRAME_SECONDS) }, () => frame)
  return Buffer.concat([before, ...frames])
}

/** Returns a first frame that claims that the file has this number of frames. */
export function xingFrame(claimedFrames: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.set([0xff, 0xfb, 0x90, 0xc4])
  frame.write('Xing', 4 + 17)
  frame.writeUInt32BE(1, 4 + 17 + 4)
  frame.writeUInt32BE(claimedFrames, 4 + 17 + 8)
  return frame
}

/** Returns Opus in WebM with all sizes in eight bytes, as some encoders write them. `scale` sets the timestamp scale. */
export function longSizesWebmOf(seconds: number, { scale = 1_000_000 }: { scale?: number } = {}): Buffer {
  const track = longElement(
    [0xae],
    Buffer.concat([
      longElement([0xd7], Buffer.from([1])),
      longElement([0x83], Buffer.from([2])),
      longElement([0x86], Buffer.from('A_OPUS')),
    ]),
  )
  const clusters = Array.from({ length: seconds }, (_, second) => {
    const blocks = Array.from({ length: 50 }, (_block, index) => {
      const block = Buffer.alloc(45, 1)
      block[0] = 0x81
      block.writeInt16BE(index * 20, 1)
      block[3] = 0
      // A packet of 20 ms.
      block[4] = 9 << 3
      return longElement([0xa3], block)
    })
    const body = Buffer.concat([longElement([0xe7], bytesOf(second * 1000)), ...blocks])
    return longElement([0x1f, 0x43, 0xb6, 0x75], body)
  })
  return Buffer.concat([
    longElement([0x1a, 0x45, 0xdf, 0xa3], longElement([0x42, 0x82], Buffer.from('webm'))),
    longElement(
      [0x18, 0x53, 0x80, 0x67],
      Buffer.concat([
        longElement([0x15, 0x49, 0xa9, 0x66], longElement([0x2a, 0xd7, 0xb1], bytesOf(scale))),
        longElement([0x16, 0x54, 0xae, 0x6b], track),
        ...clusters,
      ]),
    ),
  ])
}

function longElement(id: readonly number[], data: Buffer): Buffer {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(0x0100_0000_0000_0000n + BigInt(data.length))
  return Buffer.concat([Buffer.from(id), size, data])
}

/** Returns frames of 4096 samples at 16 kHz with 1,000 bytes each. The options set what the header claims. */
export function flacOf(
  seconds: number,
  {
    claimedSamples = seconds * 16_000,
    claimedRate = 16_000,
  }: { claimedSamples?: number; claimedRate?: number } = {},
): Buffer {
  const info = Buffer.alloc(42)
  info.write('fLaC')
  info.set([0x80, 0, 0, 34], 4)
  info.writeBigUInt64BE((BigInt(claimedRate) << 44n) | (15n << 36n) | BigInt(claimedSamples), 18)
  const frames = Array.from({ length: Math.round((seconds * 16_000) / 4096) }, (_, index) => {
    const frame = Buffer.alloc(1000, 7)
    // 4096 samples at 16 kHz, one channel of 16 bits.
    const number = index % 128
    const head = Buffer.from([0xff, 0xf8, 0xc5, 0x08, number])
    frame.set([...head, checksumOf(head)])
    return frame
  })
  return Buffer.concat([info, ...frames])
}

function checksumOf(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => {
    let next = sum ^ byte
    for (let bit = 0; bit < 8; bit += 1) next = (next & 0x80) === 0 ? next << 1 : ((next << 1) ^ 0x107) & 0xff
    return next
  }, 0)
}

/** Returns a file like a browser recording: clusters of one second with blocks of 20 ms, without a duration in the header. */
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

/** Returns Opus packets of 20 ms, 50 per page. The timestamps of the pages claim that no time passes. */
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

/** Returns an AAC track whose headers claim one second. Frames have 1024 samples at 48 kHz; the time table says `frameUnits`. */
export function m4aOf(seconds: number, { frameUnits = 1024 }: { frameUnits?: number } = {}): Buffer {
  const frames = Math.round((seconds * 48_000) / 1024)
  const times = Buffer.alloc(16)
  times.writeUInt32BE(1, 4)
  times.writeUInt32BE(frames, 8)
  times.writeUInt32BE(frameUnits, 12)
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32BE(FRAME_BYTES, 4)
  sizes.writeUInt32BE(frames, 8)
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A ')),
    box('mdat', Buffer.alloc(frames * FRAME_BYTES)),
    box('moov', trackOf(box('stts', times), box('stsz', sizes))),
  ])
}

const FRAME_BYTES = 170

/** Returns the same track in fragments of one second, as a recorder writes it. */
export function fragmentedM4aOf(
  seconds: number,
  { frameUnits = 1024 }: { frameUnits?: number } = {},
): Buffer {
  const defaults = Buffer.alloc(24)
  defaults.writeUInt32BE(1, 4)
  defaults.writeUInt32BE(frameUnits, 12)
  const fragments = Array.from({ length: seconds }, () => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(1, 4)
    const run = Buffer.alloc(8 + 47 * 4)
    run.writeUIntBE(0x200, 1, 3)
    run.writeUInt32BE(47, 4)
    for (let frame = 0; frame < 47; frame += 1) run.writeUInt32BE(FRAME_BYTES, 8 + frame * 4)
    return Buffer.concat([
      box('moof', box('traf', box('tfhd', head), box('trun', run))),
      box('mdat', Buffer.alloc(47 * FRAME_BYTES)),
    ])
  })
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\0\0isom')),
    box('moov', trackOf(box('stts', Buffer.alloc(8))), box('mvex', box('trex', defaults))),
    ...fragments,
  ])
}

function trackOf(...tables: readonly Buffer[]): Buffer {
  const number = Buffer.alloc(24)
  number.writeUInt32BE(1, 12)
  const header = Buffer.alloc(24)
  header.writeUInt32BE(48_000, 12)
  header.writeUInt32BE(48_000, 16)
  const handler = Buffer.alloc(24)
  handler.write('soun', 8)
  const description = Buffer.alloc(8 + 36)
  description.writeUInt32BE(1, 4)
  description.write('mp4a', 12)
  description.writeUInt16BE(48_000, 8 + 32)
  const table = box('minf', box('stbl', box('stsd', description), ...tables))
  return box('trak', box('tkhd', number), box('mdia', box('mdhd', header), box('hdlr', handler), table))
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + data.length)
  head.write(type, 4)
  return Buffer.concat([head, data])
}
