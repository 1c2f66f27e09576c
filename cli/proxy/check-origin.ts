import { isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'

/** What a server that adds a key must know to tell its own programs from pages of other sites. */
export interface OriginPolicy {
  /** Whether the server listens on loopback alone. */
  readonly isLocal: boolean
  /** Further host names that clients may use, without port. */
  readonly allowedHosts: readonly string[]
}

/** Pages of other sites reach this server by a request of theirs (`Origin`) or by a name that resolves to it (`Host`). */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/** Returns why a request may be that of a foreign page, or null. */
export function findForeignOrigin(headers: IncomingHttpHeaders, policy: OriginPolicy): string | null {
  const { host, origin, 'sec-fetch-site': site } = headers
  const name = host === undefined ? null : hostName(host)
  if (name === null || !isOwnHost(name, policy)) return 'The host of the request is not this proxy.'
  if (origin !== undefined && origin !== `http://${host}`) return 'A page of another site sent the request.'
  if (typeof site === 'string' && !OWN_SITES.has(site)) return 'A page of another site sent the request.'
  return null
}

function hostName(host: string): string | null {
  const url = `http://${host}`
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(url)) return null
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
}

/** An attacker can make a name of theirs resolve to any address, but not make a browser send an address as the host. */
function isOwnHost(name: string, { isLocal, allowedHosts }: OriginPolicy): boolean {
  if (name === 'localhost' || isLoopback(name) || allowedHosts.includes(name)) return true
  return !isLocal && isIP(name) !== 0
}

export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}
