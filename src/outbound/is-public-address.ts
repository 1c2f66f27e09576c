import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { lookupTable } from '../kernel/lookup-table.ts'

/**
 * Returns whether an address belongs to the public internet. Returns false for private, loopback, link-local, shared and
 * multicast networks, for addresses that embed such an address, and for anything unknown.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address)
  const range = address.range()
  const inside = INSIDE[range]?.(address)
  if (inside !== undefined) return inside !== null && isPublicIpv4(inside)
  return range === 'unicast' && address.match(GLOBAL_UNICAST)
}

/** The allocated range of IPv6. Other ranges contain old forms of private and embedded addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** The well-known NAT64 prefix. Other translation prefixes belong to a single network. */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Azure's metadata address: it looks public, but the machine's own cloud answers it, with secrets. */
const METADATA = ipaddr.IPv4.parseCIDR('168.63.129.16/32')

/** Extracts the embedded IPv4 address of an IPv6 range. Null for prefixes that belong to a single network. */
const INSIDE = lookupTable<(address: ipaddr.IPv6) => ipaddr.IPv4 | null>({
  ipv4Mapped: (address) => ipv4At(address, 12),
  rfc6052: (address) => (address.match(TRANSLATED) ? ipv4At(address, 12) : null),
  '6to4': (address) => ipv4At(address, 2),
})

function ipv4At(address: ipaddr.IPv6, offset: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4))
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !address.match(METADATA)
}

/** Whether a host is certainly not public, as far as its name tells. */
export function isPrivateHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return isIP(name) === 0 ? PRIVATE_NAME.test(name) : !isPublicAddress(name)
}

/** Names of this machine, and names that only a local network has. */
const PRIVATE_NAME = /^[^.]*$|\.(?:localhost|local|internal|intranet|lan|home\.arpa|svc)$/i
