import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { AllowedHosts } from './allowed-hosts.ts'
import { isPublicAddress } from './is-public-address.ts'
import { OutboundFailed, OutboundRefused } from './outbound-error.ts'

/** Every address of a name. */
export type ResolveHost = (name: string) => Promise<readonly string[]>

export type HostCheck = (url: URL, signal: AbortSignal) => Promise<readonly string[]>

interface HostCheckOptions {
  /** By the operator. */
  readonly allowed: AllowedHosts
  /** For one request. */
  readonly trusted: AllowedHosts
  readonly resolveHost: ResolveHost
}

/** Gives the addresses a connection may go to. One that is not allowed refuses them all: it is a matter of luck which is taken. */
export function createHostCheck({ allowed, trusted, resolveHost }: HostCheckOptions): HostCheck {
  return async (url, signal) => {
    const name = url.hostname.replace(/^\[|\]$/g, '')
    const addresses = isIP(name) === 0 ? await resolve(resolveHost, name, signal) : [name]
    if (allowed.hasHost(url) || trusted.hasHost(url)) return addresses
    const isAllowed = (address: string): boolean =>
      isPublicAddress(address) || allowed.hasAddress(address) || trusted.hasAddress(address)
    if (addresses.every(isAllowed)) return addresses
    // The address itself is not told: who asks may be exploring our network.
    throw new OutboundRefused('The address does not lead to a public host.')
  }
}

export const resolveBySystem: ResolveHost = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

async function resolve(
  resolveHost: ResolveHost,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    signal.throwIfAborted()
    const addresses = await Promise.race([resolveHost(name), aborted])
    if (addresses.length > 0 && addresses.every((address) => isIP(address) !== 0)) return addresses
  } catch (error) {
    if (signal.aborted) throw error
    throw new OutboundFailed('unreachable', 'The host of the address was not found.', { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  throw new OutboundFailed('unreachable', 'The host of the address was not found.')
}
