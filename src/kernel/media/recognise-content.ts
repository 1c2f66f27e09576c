import { HEAD_BYTES, recogniseMedia } from './recognise-media.ts'

/** What a vendor bills a file as. */
export type ContentKind = 'image' | 'audio' | 'video' | 'document' | 'text'

export interface RecognisedContent {
  readonly mediaType: string
  /** What the file can be. Some containers hold a video, or only its sound. */
  readonly kinds: readonly ContentKind[]
}

/** The number of bytes needed to recognise a file. */
export const CONTENT_HEAD_BYTES = HEAD_BYTES

/** Recognises a file by its first bytes. Null if they fit no format with a signature: the file may be text, or anything new. */
export function recogniseContent(head: Buffer): RecognisedContent | null {
  const extension = recogniseMedia(head)
  const known = extension === null ? undefined : MEDIA.get(extension)
  if (known !== undefined) return known
  const signature = SIGNATURES.find(({ at, bytes }) => head.subarray(at, at + bytes.length).equals(bytes))
  if (signature !== undefined) return signature.content
  return PDF_START.test(head.toString('latin1')) ? PDF : null
}

const IMAGE: readonly ContentKind[] = ['image']
const AUDIO: readonly ContentKind[] = ['audio']
const VIDEO: readonly ContentKind[] = ['video']
const EITHER: readonly ContentKind[] = ['video', 'audio']
const DOCUMENT: readonly ContentKind[] = ['document']

const MEDIA: ReadonlyMap<string, RecognisedContent> = new Map([
  ['png', { mediaType: 'image/png', kinds: IMAGE }],
  ['jpg', { mediaType: 'image/jpeg', kinds: IMAGE }],
  ['gif', { mediaType: 'image/gif', kinds: IMAGE }],
  ['webp', { mediaType: 'image/webp', kinds: IMAGE }],
  ['avif', { mediaType: 'image/avif', kinds: IMAGE }],
  ['mp4', { mediaType: 'video/mp4', kinds: EITHER }],
  ['mov', { mediaType: 'video/quicktime', kinds: EITHER }],
  ['m4a', { mediaType: 'audio/mp4', kinds: AUDIO }],
  ['webm', { mediaType: 'video/webm', kinds: EITHER }],
  ['mp3', { mediaType: 'audio/mpeg', kinds: AUDIO }],
  ['wav', { mediaType: 'audio/wav', kinds: AUDIO }],
  ['ogg', { mediaType: 'audio/ogg', kinds: EITHER }],
  ['flac', { mediaType: 'audio/flac', kinds: AUDIO }],
  ['aac', { mediaType: 'audio/aac', kinds: AUDIO }],
])

/** Readers of PDF skip a byte order mark and white space. */
const PDF_START = /^(?:\xef\xbb\xbf)?\s*%PDF-/
const PDF: RecognisedContent = { mediaType: 'application/pdf', kinds: DOCUMENT }

interface Signature {
  readonly at: number
  readonly bytes: Buffer
  readonly content: RecognisedContent
}

/** Formats that are not stored here, but that a vendor may read. */
const SIGNATURES: readonly Signature[] = [
  signature('II*\0', 'image/tiff', IMAGE),
  signature('MM\0*', 'image/tiff', IMAGE),
  signature('8BPS', 'image/vnd.adobe.photoshop', IMAGE),
  signature('\0\0\x01\0', 'image/x-icon', IMAGE),
  signature('heic', 'image/heic', IMAGE, 8),
  signature('heix', 'image/heic', IMAGE, 8),
  signature('hevc', 'image/heic', IMAGE, 8),
  signature('mif1', 'image/heif', IMAGE, 8),
  signature('msf1', 'image/heif', IMAGE, 8),
  signature('AVI ', 'video/x-msvideo', VIDEO, 8),
  signature('FLV\x01', 'video/x-flv', VIDEO),
  signature('\x1a\x45\xdf\xa3', 'video/x-matroska', EITHER),
  signature('OggS', 'video/ogg', EITHER),
  signature('\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'video/x-ms-wmv', EITHER),
  signature('\0\0\x01\xba', 'video/mpeg', VIDEO),
  signature('\0\0\x01\xb3', 'video/mpeg', VIDEO),
  signature('AIFF', 'audio/aiff', AUDIO, 8),
  signature('AIFC', 'audio/aiff', AUDIO, 8),
  signature('#!AMR', 'audio/amr', AUDIO),
  signature('caff\0', 'audio/x-caf', AUDIO),
  signature('PK\x03\x04', 'application/zip', DOCUMENT),
  signature('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/x-ole-storage', DOCUMENT),
  signature('{\\rtf', 'application/rtf', ['document', 'text']),
  signature('\x1f\x8b\x08', 'application/gzip', DOCUMENT),
  signature('7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed', DOCUMENT),
]

function signature(text: string, mediaType: string, kinds: readonly ContentKind[], at = 0): Signature {
  return { at, bytes: Buffer.from(text, 'latin1'), content: { mediaType, kinds } }
}
