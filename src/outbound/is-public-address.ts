import ipaddr from 'ipaddr.js'

/**
 * Whether an address is one of the public internet. What is not known to be is not: private, loopback, link-local, shared and
 * multicast networks, and addresses that carry such a one inside.
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

/** All that is given out of version 6; the rest is old forms of private and embedded addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** The one prefix for translation that everybody uses; others are a network's own. */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Public by its number, and answered by the machine's own cloud with its secrets. */
const METADATA = ipaddr.IPv4.parseCIDR('168.63.129.16/32')

/** Where an address of version 4 stands in one of version 6; null for a form that is a network's own. */
const INSIDE: Readonly<Record<string, (address: ipaddr.IPv6) => ipaddr.IPv4 | null>> = {
  ipv4Mapped: (address) => ipv4At(address, 12),
  rfc6052: (address) => (address.match(TRANSLATED) ? ipv4At(address, 12) : null),
  '6to4': (address) => ipv4At(address, 2),
}

function ipv4At(address: ipaddr.IPv6, offset: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4))
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !address.match(METADATA)
}
