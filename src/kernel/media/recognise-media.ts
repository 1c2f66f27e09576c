/** The number of bytes needed to recognise a file. */
export const HEAD_BYTES = 256

/** Recognises a file by its first bytes and returns its extension. Null if it is no known image, video or audio format. */
export function recogniseMedia(head: Uint8Array): string | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES))
  const found = MAGIC.find(({ at, magic }) => bytes.subarray(at, at + magic.length).equals(magic))
  if (found !== undefined) return typeof found.form === 'string' ? found.form : found.form(bytes)
  return recogniseFrames(bytes)
}

interface Magic {
  readonly at: number
  readonly magic: Buffer
  readonly form: string | ((bytes: Buffer) => string | null)
}

const MAGIC: readonly Magic[] = [
  { at: 0, magic: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), form: 'png' },
  { at: 0, magic: Buffer.from([0xff, 0xd8, 0xff]), form: 'jpg' },
  { at: 0, magic: Buffer.from('GIF87a'), form: 'gif' },
  { at: 0, magic: Buffer.from('GIF89a'), form: 'gif' },
  { at: 0, magic: Buffer.from('RIFF'), form: recogniseRiff },
  { at: 0, magic: Buffer.from('RF64'), form: recogniseRiff },
  { at: 4, magic: Buffer.from('ftyp'), form: recogniseBrand },
  // Old QuickTime files have no brand.
  { at: 4, magic: Buffer.from('moov'), form: 'mov' },
  { at: 4, magic: Buffer.from('mdat'), form: 'mov' },
  { at: 4, magic: Buffer.from('wide'), form: 'mov' },
  { at: 0, magic: Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), form: recogniseMatroska },
  { at: 0, magic: Buffer.from('OggS'), form: recogniseOgg },
  { at: 0, magic: Buffer.from('fLaC'), form: 'flac' },
  { at: 0, magic: Buffer.from('ID3'), form: 'mp3' },
  { at: 0, magic: Buffer.from('ADIF'), form: 'aac' },
]

function recogniseRiff(bytes: Buffer): string | null {
  const form = bytes.toString('latin1', 8, 12)
  return form === 'WEBP' ? 'webp' : form === 'WAVE' ? 'wav' : null
}

/** Reads the brands of a file: the first is its main format, the others are compatible formats. */
function recogniseBrand(bytes: Buffer): string | null {
  const end = Math.min(bytes.length, bytes.length >= 4 ? bytes.readUInt32BE(0) : 0)
  const brands: string[] = []
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12) brands.push(bytes.toString('latin1', at, at + 4))
  const [major = ''] = brands
  if (brands.includes('avif') || brands.includes('avis')) return 'avif'
  if (/^(?:hei|hev|mif|msf|jpe|crx)/.test(major)) return null
  if (major === 'qt  ') return 'mov'
  if (major === 'M4A ' || major === 'M4B ' || major === 'M4P ') return 'm4a'
  return major === '' ? null : 'mp4'
}

function recogniseMatroska(bytes: Buffer): string | null {
  return bytes.includes('webm') ? 'webm' : null
}

function recogniseOgg(bytes: Buffer): string | null {
  return bytes.includes('theora') ? null : 'ogg'
}

/** Recognises audio that begins with a frame: eleven set bits, followed by a valid layer, bit rate and sampling rate. */
function recogniseFrames(bytes: Buffer): string | null {
  const [first = 0, second = 0, third = 0] = bytes
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || bytes.length < 4) return null
  if ((second & 0xf6) === 0xf0) return ((third >> 2) & 0xf) < 13 ? 'aac' : null
  const version = (second >> 3) & 3
  const layer = (second >> 1) & 3
  const isFrame =
    version !== 1 && (layer === 1 || layer === 2) && third >> 4 !== 15 && ((third >> 2) & 3) !== 3
  return isFrame ? 'mp3' : null
}
