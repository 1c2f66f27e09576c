import { invalidValue } from '../../kernel/app-error.ts'
import type { StoredProvider } from './offered-provider.ts'

/** Keys that were given for one host are not sent to another one: whoever changes the address would learn them. */
export function requireOwnSecrets(before: StoredProvider, after: StoredProvider): void {
  const isElsewhere = originOf(before) !== originOf(after)
  const reader = readerOf(after)
  if (!isElsewhere && (reader === null || reader === readerOf(before))) return
  const known = new Set(before.credentials.map(({ id }) => id))
  const keepsKey = after.credentials.some(({ id }) => known.has(id))
  const keepsHeaders = before.sealedHeaders !== null && after.sealedHeaders !== null
  if (!keepsKey && !keepsHeaders) return
  throw isElsewhere
    ? invalidValue(
        'base_url',
        'Keys and headers stay with the host that they were given for. Give new ones with the new address.',
      )
    : invalidValue(
        'proxy',
        'This proxy could read the keys and headers that were given before: over plain HTTP, or with a certificate authority of your own. Give them again with it.',
      )
}

function originOf({ baseUrl }: StoredProvider): string | null {
  return baseUrl === null ? null : new URL(baseUrl).origin
}

/** Returns the proxy that can read what is sent, and by what, or null. Over plain HTTP it can, and if it can have a certificate. */
function readerOf({ baseUrl, proxy, certificateAuthority }: StoredProvider): string | null {
  if (proxy === null) return null
  const isPlain = baseUrl?.startsWith('http://') === true
  if (!isPlain && certificateAuthority === null) return null
  return JSON.stringify([proxy.url, isPlain ? null : certificateAuthority])
}
