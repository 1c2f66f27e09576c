import type { OutputFile } from '../../../media-operation.ts'
import type { WireSession } from '../media-wire.ts'

/** A file of Google's, which asks for the key; no other address is told it. */
export function toGoogleFile(address: string, { baseUrl, apiKey }: WireSession): OutputFile {
  const url = new URL(address)
  // The key goes into a header: an address is written down in more places.
  url.searchParams.delete('key')
  if (url.origin !== new URL(baseUrl).origin) return { kind: 'url', url: url.href }
  if (!url.searchParams.has('alt')) url.searchParams.set('alt', 'media')
  return { kind: 'url', url: url.href, headers: { 'x-goog-api-key': apiKey } }
}
