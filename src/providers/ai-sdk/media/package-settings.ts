import type { WireSession } from './media-wire.ts'

/** What every vendor's package is created with. */
export function toPackageSettings({ apiKey, baseUrl, fetch }: WireSession) {
  return { apiKey, baseURL: baseUrl, fetch }
}
