import type { OutputFile } from '../../../media/media-operation.ts'
import type { WireSession } from '../media-wire.ts'

/** Returns a file to download. Google's own files need the key. It is not sent to any other origin. */
export function toGoogleFile(address: string, { baseUrl, apiKey }: WireSession): OutputFile {
  const url = new URL(address)
  // The key goes into a header, because URLs are logged and stored in more places.
  url.searchParams.delete('key')
  if (url.origin !== new URL(baseUrl).origin) return { kind: 'url', url: url.href }
  if (!url.searchParams.has('alt')) url.searchParams.set('alt', 'media')
  return { kind: 'url', url: url.href, headers: { 'x-goog-api-key': apiKey } }
}
