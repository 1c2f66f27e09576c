import type { MediaKind } from './media-order.ts'

/** A file format that is stored and served. */
export interface MediaFormat {
  readonly kind: MediaKind
  readonly contentType: string
  readonly extension: string
}

/** File ids contain the index of their format in this list. Only append to it, and never reorder it. */
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

/** Raw audio has no header to recognise, so its declared type is used. */
const HEADLESS_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/l16', 'audio/x-pcm'])

/** Finds the format for the requested kind, because a video container can also hold only audio. */
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
 * Stores the index of the format in two of the id's random digits, so that a URL with the right extension can be made from the id
 * alone.
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
