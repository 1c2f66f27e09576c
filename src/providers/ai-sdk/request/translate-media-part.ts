import type { LanguageModelV4FilePart } from '@ai-sdk/provider'

import { parseDataUri } from '../../../kernel/media/data-uri.ts'
import {
  MistakenPart,
  readMediaPart,
  type MediaPart,
  type MediaReading,
} from '../../../wires/openai-chat/read-media-part.ts'
import type { Vendor } from '../vendor.ts'

/** A part that cannot be sent to any vendor. The message is for the client. */
export class UntranslatablePart extends Error {
  override readonly name = 'UntranslatablePart'
}

export function translateMediaPart(part: MediaPart, vendor: Vendor): LanguageModelV4FilePart {
  const { mediaType } = readPart(part)
  switch (part.type) {
    case 'image_url':
      return translateSource(part.image_url.url, mediaType, vendor)
    case 'video_url':
      return translateSource(part.video_url.url, mediaType, vendor)
    case 'input_audio':
      return translateSource(part.input_audio.data, mediaType, vendor)
    case 'file':
      return translateFile(part.file, mediaType, vendor)
  }
}

/** Sends what the gateway has held: the kind of a part is decided in one place. */
function readPart(part: MediaPart): MediaReading {
  try {
    return readMediaPart(part)
  } catch (error) {
    if (!(error instanceof MistakenPart)) throw error
    throw new UntranslatablePart(`'${error.member}' ${error.message}`)
  }
}

function translateFile(
  file: Extract<MediaPart, { type: 'file' }>['file'],
  mediaType: string,
  vendor: Vendor,
): LanguageModelV4FilePart {
  const named = typeof file.filename === 'string' ? { filename: file.filename } : {}
  if (typeof file.file_data === 'string')
    return { ...translateSource(file.file_data, mediaType, vendor), ...named }
  if (typeof file.file_id !== 'string')
    throw new UntranslatablePart('A file part needs file_data or file_id.')
  return {
    type: 'file',
    mediaType,
    data: { type: 'reference', reference: { [vendor.key]: file.file_id } },
    ...named,
  }
}

function translateSource(source: string, mediaType: string, vendor: Vendor): LanguageModelV4FilePart {
  const told = vendor.normalizeMediaType(mediaType)
  if (/^https?:/i.test(source))
    return { type: 'file', mediaType: told, data: { type: 'url', url: new URL(source) } }
  const parsed = parseDataUri(source)
  const payload = source.slice(parsed?.start ?? 0)
  const data = parsed?.isBase64 === false ? Buffer.from(decodePercent(payload)).toString('base64') : payload
  return { type: 'file', mediaType: told, data: { type: 'data', data } }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new UntranslatablePart('The data URI is not encoded correctly.')
  }
}
