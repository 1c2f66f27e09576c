import { BlockList, isIP } from 'node:net'
import type { RequestMessage } from '../message.ts'

const FORWARDED_MAX = 32

/**
 * Returns a function that finds the client address of a request: the last address on its path that is not a trusted proxy.
 * `x-forwarded-for` is used only if the peer is a trusted proxy.
 */
export function createClientAddress(trustedProxies: readonly string[]): (incoming: RequestMessage) => string {
  const trusted = new BlockList()
  for (const network of trustedProxies) trust(trusted, network)
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return ({ socket, headers }) => {
    const peer = withoutMapping(socket.remoteAddress ?? '')
    if (trustedProxies.length === 0 || !isTrusted(peer)) return peer
    const forwarded = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .slice(-FORWARDED_MAX)
    let address = peer
    for (const hop of forwarded.toReversed()) {
      const candidate = withoutMapping(hop.trim())
      if (isIP(candidate) === 0) break
      address = candidate
      if (!isTrusted(address)) break
    }
    return address
  }
}

/** Throws a `RangeError` if the text is neither an address nor a network. */
function trust(list: BlockList, network: string): void {
  const [address = '', bits] = network.split('/')
  const family = isIP(address)
  if (family === 0) throw new RangeError(`not an address or a network: ${network}`)
  const kind = family === 6 ? 'ipv6' : 'ipv4'
  if (bits === undefined) list.addAddress(address, kind)
  else list.addSubnet(address, Number(bits), kind)
}

function withoutMapping(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
