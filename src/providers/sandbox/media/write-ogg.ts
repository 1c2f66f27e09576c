import { NOTHING, type AudioShape, type AudioWriter } from './audio-writer.ts'
import { loadEncoder } from './load-encoder.ts'
import { writeVorbisComment } from './vorbis-comment.ts'

const QUALITY = 3
const HEADER_PACKETS = 3

/** Ogg Vorbis. The encoder writes no tags, so the page that holds them is written again. */
export async function createOggWriter(shape: AudioShape): Promise<AudioWriter> {
  const encoder = await loadEncoder('audio/ogg')
  encoder.configure({
    channels: shape.channelCount,
    sampleRate: shape.sampleRate,
    vbrQuality: QUALITY,
    oggSerialNo: 1,
  })
  let held: Buffer | null = Buffer.alloc(0)
  const pass = (bytes: Uint8Array): Uint8Array => {
    if (held === null) return Buffer.from(bytes)
    held = Buffer.concat([held, bytes])
    const tagged = tagHeader(held, shape.comment)
    if (tagged === null) return NOTHING
    held = null
    return tagged
  }
  return {
    contentType: 'audio/ogg; codecs=vorbis',
    begin: () => NOTHING,
    write: (channels) => pass(encoder.encode(channels)),
    end: () => pass(encoder.finalize()),
  }
}

interface Page {
  readonly head: Buffer
  readonly sizes: Buffer
  readonly content: Buffer
  readonly end: number
}

/** Null until all of the header is there. The first page stays; the second holds comment and set-up. */
function tagHeader(bytes: Buffer, comment: string): Buffer | null {
  const first = readPage(bytes, 0)
  const second = first && readPage(bytes, first.end)
  if (first === null || second === null) return null
  const packets = listPackets(second)
  const setup = packets[1]
  if (packets.length !== HEADER_PACKETS - 1 || setup === undefined) return bytes
  const tags = Buffer.concat([
    Buffer.from('\u0003vorbis', 'latin1'),
    writeVorbisComment(comment),
    Buffer.from([1]),
  ])
  const sizes = Buffer.concat([writeSizes(tags), writeSizes(setup)])
  // A comment too long for one page would number all pages anew.
  if (sizes.length > 255) return bytes
  const page = Buffer.concat([second.head, Buffer.from([sizes.length]), sizes, tags, setup])
  page.writeUInt32LE(0, 22)
  page.writeUInt32LE(checksum(page), 22)
  return Buffer.concat([bytes.subarray(0, first.end), page, bytes.subarray(second.end)])
}

const HEAD_BYTES = 26

function readPage(bytes: Buffer, start: number): Page | null {
  if (bytes.length < start + HEAD_BYTES + 1) return null
  const sizeCount = bytes.readUInt8(start + HEAD_BYTES)
  const contentStart = start + HEAD_BYTES + 1 + sizeCount
  if (bytes.length < contentStart) return null
  const sizes = bytes.subarray(start + HEAD_BYTES + 1, contentStart)
  const end = contentStart + sizes.reduce((sum, size) => sum + size, 0)
  if (bytes.length < end) return null
  const head = Buffer.from(bytes.subarray(start, start + HEAD_BYTES))
  return { head, sizes, content: bytes.subarray(contentStart, end), end }
}

function listPackets({ sizes, content }: Page): Buffer[] {
  const packets: Buffer[] = []
  let start = 0
  let end = 0
  for (const size of sizes) {
    end += size
    if (size === 255) continue
    packets.push(content.subarray(start, end))
    start = end
  }
  return packets
}

/** A packet's length as a run of 255s and a rest. */
function writeSizes(packet: Buffer): Buffer {
  return Buffer.from([
    ...Array.from({ length: Math.floor(packet.length / 255) }, () => 255),
    packet.length % 255,
  ])
}

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index << 24
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1
  return value >>> 0
})

function checksum(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) value = ((value << 8) ^ (TABLE[((value >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0
  return value
}
