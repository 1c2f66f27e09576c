import type { MediaKind } from './media-order.ts'

/** A form of file that is kept and served. */
export interface MediaFormat {
  readonly kind: MediaKind
  readonly contentType: string
  readonly extension: string
}

/** Ids of files name their format by its place in this list: it grows at its end, and nothing in it moves. */
const FORMATS: readonly MediaFormat[] = [
  { kind: 'image', contentType: 'image/png', extension: 'png' },
  { kind: 'image', contentType: 'image/jpeg', extension: 'jpg' },
  { kind: 'image', contentType: 'image/webp', extension: 'webp' },
  { kind: 'image', contentType: 'image/gif', extension: 'gif' },
  { kind: 'image', contentType: 'image/avif', extension: 'avif' },
  { kind: 'video', contentType: 'video/mp4', extension: 'mp4' },
  { kind: 'video', contentType: 'video/webm', extension: 'webm' },
  { kind: 'video', contentType: 'video/quicktime', extension: 'mov' },
  { kind: 'audio', contentType: 'audio/mpeg', extension: 'mp3' },
  { kind: 'audio', contentType: 'audio/wav', extension: 'wav' },
  { kind: 'audio', contentType: 'audio/ogg', extension: 'ogg' },
  { kind: 'audio', contentType: 'audio/flac', extension: 'flac' },
  { kind: 'audio', contentType: 'audio/aac', extension: 'aac' },
  { kind: 'audio', contentType: 'audio/mp4', extension: 'm4a' },
  { kind: 'audio', contentType: 'audio/mp4', extension: 'mp4' },
  { kind: 'audio', contentType: 'audio/webm', extension: 'webm' },
  { kind: 'audio', contentType: 'audio/pcm', extension: 'pcm' },
]

/** Sound without a head looks like anything; it is what is said of it. */
const HEADLESS_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/l16', 'audio/x-pcm'])

/** By its extension, as what it is wanted for: a video's container can also hold sound alone. */
export function findFormat(kind: MediaKind, extension: string): MediaFormat | null {
  return FORMATS.find((format) => format.kind === kind && format.extension === extension) ?? null
}

export function findHeadlessFormat(kind: MediaKind, contentType: string | undefined): MediaFormat | null {
  const [type = ''] = (contentType ?? '').toLowerCase().split(';', 1)
  return HEADLESS_TYPES.has(type.trim()) ? findFormat(kind, 'pcm') : null
}

export function describeFormats(kind: MediaKind): string {
  const extensions = FORMATS.filter((format) => format.kind === kind).map(({ extension }) => extension)
  return [...new Set(extensions)].join(', ')
}

/**
 * The id of a file of this format: two of its random digits say which. The address of a file ends in its extension, and can be
 * made of the id alone, without asking anybody.
 */
export function markId(id: string, format: MediaFormat): string {
  const place = FORMATS.indexOf(format).toString(16).padStart(MARK_DIGITS, '0')
  return id.slice(0, MARK_START) + place + id.slice(MARK_START + MARK_DIGITS)
}

export function formatOfId(id: string): MediaFormat | null {
  return FORMATS[parseInt(id.slice(MARK_START, MARK_START + MARK_DIGITS), 16)] ?? null
}

const MARK_START = 21
const MARK_DIGITS = 2
