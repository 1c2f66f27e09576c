import { isIP } from 'node:net'
import type { AllowedHosts } from './allowed-hosts.ts'
import { isPublicAddress } from './is-public-address.ts'
import { OutboundFailed, OutboundRefused } from './outbound-error.ts'
import type { ResolveHost } from './resolve-host.ts'

export type HostCheck = (url: URL, signal: AbortSignal) => Promise<readonly string[]>

interface HostCheckOptions {
  /** Allowed by the operator. */
  readonly allowed: AllowedHosts
  /** Allowed for this request. */
  readonly trusted: AllowedHosts
  readonly resolveAllowed: ResolveHost
  readonly resolveOther: ResolveHost
}

/**
 * Creates a check that returns the addresses to connect to. Throws if any of them is not allowed, because any one may be used.
 */
export function createHostCheck(options: HostCheckOptions): HostCheck {
  const { allowed, trusted, resolveAllowed, resolveOther } = options
  return async (url, signal) => {
    const name = url.hostname.replace(/^\[|\]$/g, '')
    const isNamed = allowed.hasHost(url) || trusted.hasHost(url)
    const resolveHost = isNamed ? resolveAllowed : resolveOther
    const addresses = isIP(name) === 0 ? await resolve(resolveHost, name, signal) : [name]
    if (isNamed) return addresses
    const isAllowed = (address: string): boolean =>
      isPublicAddress(address) || allowed.hasAddress(address) || trusted.hasAddress(address)
    if (addresses.every(isAllowed)) return addresses
    // Do not reveal the address, because the caller may be exploring our network.
    throw new OutboundRefused('The address does not lead to a public host.')
  }
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
