import type { ContentKind } from '../kernel/media/recognise-content.ts'

/** Guesses the type of a file by its name. */
export function guessMediaType(path: string): string | undefined {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(path.slice(-NAME_LENGTH_MAX))?.[1]?.toLowerCase()
  return extension === undefined ? undefined : MEDIA_TYPES.get(extension)
}

/** Returns what a vendor bills a type as. Null for types that are not known here. */
export function kindOfType(mediaType: string): ContentKind | null {
  const [family = ''] = mediaType.split('/', 1)
  if (family === 'image' || family === 'audio' || family === 'video' || family === 'text') return family
  return TEXT_TYPES.has(mediaType) ? 'text' : DOCUMENT_TYPE.test(mediaType) ? 'document' : null
}

/** Text that is not called so. Each is sent as what it is. */
export const TEXT_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/javascript',
])

const DOCUMENT_TYPE =
  /^application\/(?:pdf|rtf|zip|gzip|msword|vnd\.(?:ms-|openxmlformats-|oasis\.)[\w.+-]+|epub\+zip|x-[\w.+-]+)$/

/** No file name is longer. What precedes it does not matter. */
const NAME_LENGTH_MAX = 1024

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
  ['heic', 'image/heic'],
  ['avif', 'image/avif'],
  ['pdf', 'application/pdf'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['xml', 'text/xml'],
  ['mp3', 'audio/mp3'],
  ['mpga', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['wave', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['oga', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['aif', 'audio/aiff'],
  ['aiff', 'audio/aiff'],
  ['amr', 'audio/amr'],
  ['wma', 'audio/x-ms-wma'],
  ['weba', 'audio/webm'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['mkv', 'video/x-matroska'],
  ['avi', 'video/x-msvideo'],
  ['mpeg', 'video/mpeg'],
])
