import { isDataUri } from '../kernel/media/data-uri.ts'
import { isRecord } from '../kernel/is-record.ts'

/** An address for the size of content that the gateway cannot read. It is counted like any address, and never sent. */
export const UNSEEN_ADDRESS = 'https://unseen.invalid/'

/** Whether a value may hold or name an image, a file or a recording, which costs more than its characters. */
export function mayHoldMedia(value: unknown): boolean {
  if (typeof value === 'string') return isDataUri(value)
  if (Array.isArray(value)) return value.some(mayHoldMedia)
  if (!isRecord(value)) return false
  return Object.entries(value).some(([name, member]) =>
    MEDIA_MEMBERS.has(name) ? member !== null && member !== undefined : mayHoldMedia(member),
  )
}

const MEDIA_MEMBERS: ReadonlySet<string> = new Set([
  'image_url',
  'file_url',
  'file_data',
  'video_url',
  'audio_url',
  'input_audio',
  'media_type',
  'mime_type',
  'b64_json',
  'image',
  'audio',
  'video',
])
