export type AudioFormat = 'flac' | 'mp3' | 'mp4' | 'ogg' | 'wav' | 'webm'

interface FormatTraits {
  readonly contentType: string
  /** The first one is used for files without a known extension. */
  readonly extensions: readonly string[]
}

export const AUDIO_FORMATS: Readonly<Record<AudioFormat, FormatTraits>> = {
  flac: { contentType: 'audio/flac', extensions: ['flac'] },
  mp3: { contentType: 'audio/mpeg', extensions: ['mp3', 'mpeg', 'mpga'] },
  mp4: { contentType: 'audio/mp4', extensions: ['m4a', 'mp4'] },
  ogg: { contentType: 'audio/ogg', extensions: ['ogg', 'oga', 'opus'] },
  wav: { contentType: 'audio/wav', extensions: ['wav'] },
  webm: { contentType: 'audio/webm', extensions: ['webm'] },
}

/** The number of bytes needed to recognise a file. */
export const HEAD_BYTES = 64

/** Recognises the format from the first bytes. Null if it is not accepted. */
export function recogniseAudio(head: Buffer): AudioFormat | null {
  const text = (start: number, end: number): string => head.toString('latin1', start, end)
  if (text(0, 4) === 'fLaC') return 'flac'
  if (text(0, 4) === 'OggS') return 'ogg'
  if (/^RIFF|^RF64/.test(text(0, 4)) && text(8, 12) === 'WAVE') return 'wav'
  if (text(4, 8) === 'ftyp') return 'mp4'
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) return 'webm'
  if (text(0, 3) === 'ID3' || isMpegFrame(head)) return 'mp3'
  return null
}

/** Checks for eleven set bits, followed by a valid version, layer, bit rate and sampling rate. */
function isMpegFrame(head: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = head
  if (head.length < 4 || first !== 0xff || (second & 0xe0) !== 0xe0) return false
  const isVersion = ((second >> 3) & 3) !== 1
  const isLayer = ((second >> 1) & 3) !== 0
  return isVersion && isLayer && third >> 4 !== 15 && ((third >> 2) & 3) !== 3
}
