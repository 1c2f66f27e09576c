import { toIntegerSamples, type AudioShape, type AudioWriter } from './audio-writer.ts'

const BLOCK_SAMPLES = 4096
const BITS_PER_SAMPLE = 16

/** Writes FLAC without compression: as large as WAV, but readable by every FLAC decoder. */
export function createFlacWriter(shape: AudioShape): AudioWriter {
  const { channelCount } = shape
  const blockLength = BLOCK_SAMPLES * channelCount
  let pending: number[] = []
  let frameNumber = 0

  /** Writes complete blocks, and at the end the remaining samples. */
  const takeFrames = (lengthMin: number): Buffer => {
    const frames: Buffer[] = []
    while (pending.length >= lengthMin) {
      frames.push(writeFrame(pending.slice(0, blockLength), channelCount, frameNumber))
      pending = pending.slice(blockLength)
      frameNumber += 1
    }
    return Buffer.concat(frames)
  }

  return {
    contentType: 'audio/flac',
    begin: () =>
      Buffer.concat([
        Buffer.from('fLaC'),
        writeBlock(0, writeStreamInfo(shape), false),
        writeBlock(4, writeVorbisComment(shape.comment), true),
      ]),
    write(channels) {
      for (const sample of toIntegerSamples(channels)) pending.push(sample)
      return takeFrames(blockLength)
    },
    end: () => takeFrames(1),
  }
}

function writeBlock(type: number, content: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt8(isLast ? type | 0x80 : type)
  head.writeUIntBE(content.length, 1, 3)
  return Buffer.concat([head, content])
}

function writeStreamInfo({ sampleRate, channelCount, sampleCount }: AudioShape): Buffer {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(BLOCK_SAMPLES, 0)
  info.writeUInt16BE(BLOCK_SAMPLES, 2)
  const packed =
    (BigInt(sampleRate) << 44n) |
    (BigInt(channelCount - 1) << 41n) |
    (BigInt(BITS_PER_SAMPLE - 1) << 36n) |
    BigInt(sampleCount)
  info.writeBigUInt64BE(packed, 10)
  return info
}

const VERBATIM_SUBFRAME = 0x02
const SIZE_AT_THE_END = 0x70
const SIXTEEN_BITS = 0x08

function writeFrame(samples: readonly number[], channelCount: number, frameNumber: number): Buffer {
  const count = samples.length / channelCount
  const size = Buffer.alloc(2)
  size.writeUInt16BE(count - 1)
  const head = Buffer.concat([
    Buffer.from([0xff, 0xf8, SIZE_AT_THE_END, ((channelCount - 1) << 4) | SIXTEEN_BITS]),
    // Frame numbers are encoded like UTF-8 characters.
    Buffer.from(String.fromCodePoint(frameNumber)),
    size,
  ])
  const subframes = Array.from({ length: channelCount }, (_, channel) => {
    const bytes = Buffer.alloc(1 + count * 2)
    bytes.writeUInt8(VERBATIM_SUBFRAME)
    for (let index = 0; index < count; index += 1)
      bytes.writeInt16BE(samples[index * channelCount + channel] ?? 0, 1 + index * 2)
    return bytes
  })
  const body = Buffer.concat([head, Buffer.from([checksum8(head)]), ...subframes])
  const foot = Buffer.alloc(2)
  foot.writeUInt16BE(checksum16(body))
  return Buffer.concat([body, foot])
}

const TABLE_8 = Array.from({ length: 256 }, (_, index) => shiftOut(index, 0x07, 8))
const TABLE_16 = Array.from({ length: 256 }, (_, index) => shiftOut(index << 8, 0x8005, 16))

function shiftOut(start: number, polynomial: number, bits: number): number {
  let value = start
  for (let bit = 0; bit < 8; bit += 1)
    value = value & (1 << (bits - 1)) ? ((value << 1) ^ polynomial) & ((1 << bits) - 1) : value << 1
  return value
}

function checksum8(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) value = TABLE_8[value ^ byte] ?? 0
  return value
}

function checksum16(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ (TABLE_16[(value >> 8) ^ byte] ?? 0)
  return value
}

/** Writes the tags of FLAC: the vendor and one comment. */
function writeVorbisComment(comment: string): Buffer {
  return Buffer.concat([writeText('Parkway sandbox'), writeCount(1), writeText(`COMMENT=${comment}`)])
}

function writeText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([writeCount(bytes.length), bytes])
}

function writeCount(count: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(count)
  return bytes
}
