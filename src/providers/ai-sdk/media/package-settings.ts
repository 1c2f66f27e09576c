import type { WireSession } from './media-wire.ts'

/** Returns the settings that every vendor's package needs. */
export function toPackageSettings({ apiKey, baseUrl, fetch }: WireSession) {
  return { apiKey, baseURL: baseUrl, fetch }
}
