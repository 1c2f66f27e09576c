import type { LanguageModelV4FilePart } from '@ai-sdk/provider'

import type { ContentPart } from '../../wires/openai-chat/chat-request.ts'
import type { Vendor } from './vendor.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** A part that cannot be sent to any vendor. The message is for the client. */
export class UntranslatablePart extends Error {
  override readonly name = 'UntranslatablePart'
}

export type MediaPart = Exclude<ContentPart, { type: 'text' | 'refusal' }>

export function translateMediaPart(part: MediaPart, vendor: Vendor): LanguageModelV4FilePart {
  switch (part.type) {
    case 'image_url':
      return translateUrl(part.image_url.url, 'image/jpeg', vendor)
    case 'video_url':
      return translateUrl(part.video_url.url, 'video/mp4', vendor)
    case 'input_audio':
      return toFilePart(`audio/${part.input_audio.format}`, part.input_audio.data, vendor)
    case 'file':
      return translateFile(part.file, vendor)
  }
}

function translateFile(
  file: Extract<ContentPart, { type: 'file' }>['file'],
  vendor: Vendor,
): LanguageModelV4FilePart {
  const named = typeof file.filename === 'string' ? { filename: file.filename } : {}
  const fallbackType = guessMediaType(file.filename ?? '') ?? 'application/pdf'
  if (typeof file.file_data === 'string') {
    const part =
      file.file_data.startsWith('data:') || isWebUrl(file.file_data)
        ? translateUrl(file.file_data, fallbackType, vendor)
        : toFilePart(fallbackType, file.file_data, vendor)
    return { ...part, ...named }
  }
  if (typeof file.file_id !== 'string')
    throw new UntranslatablePart('A file part needs file_data or file_id.')
  return {
    type: 'file',
    mediaType: fallbackType,
    data: { type: 'reference', reference: { [vendor.key]: file.file_id } },
    ...named,
  }
}

function translateUrl(url: string, fallbackType: string, vendor: Vendor): LanguageModelV4FilePart {
  if (url.startsWith('data:')) return translateDataUri(url, fallbackType, vendor)
  if (!isWebUrl(url) || !URL.canParse(url)) {
    throw new UntranslatablePart('Expected an http(s) URL or a data URI.')
  }
  const parsed = new URL(url)
  return {
    type: 'file',
    mediaType: vendor.normalizeMediaType(guessMediaType(parsed.pathname) ?? fallbackType),
    data: { type: 'url', url: parsed },
  }
}

function translateDataUri(uri: string, fallbackType: string, vendor: Vendor): LanguageModelV4FilePart {
  const comma = uri.indexOf(',')
  if (comma === -1) throw new UntranslatablePart('The data URI has no data.')
  const [mediaType = '', ...parameters] = uri.slice('data:'.length, comma).split(';')
  const payload = uri.slice(comma + 1)
  if (payload === '') throw new UntranslatablePart('The data URI is empty.')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  return toFilePart(
    mediaType === '' ? fallbackType : mediaType.toLowerCase(),
    isBase64 ? payload : Buffer.from(decodePercent(payload)).toString('base64'),
    vendor,
  )
}

function toFilePart(mediaType: string, base64: string, vendor: Vendor): LanguageModelV4FilePart {
  return {
    type: 'file',
    mediaType: vendor.normalizeMediaType(mediaType),
    data: { type: 'data', data: base64 },
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new UntranslatablePart('The data URI is not encoded correctly.')
  }
}

function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text)
}

const MEDIA_TYPES = lookupTable<string>({
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  heic: 'image/heic',
  avif: 'image/avif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  xml: 'text/xml',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
})

// The vendors fetch URLs themselves, so only the file name indicates the type.
function guessMediaType(path: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase()
  return extension === undefined ? undefined : MEDIA_TYPES[extension]
}
