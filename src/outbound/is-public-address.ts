import ipaddr from 'ipaddr.js'

/**
 * Whether an address is one of the public internet. What is not known to be is not: private, loopback, link-local, shared and
 * multicast networks, and addresses that carry such a one inside.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address)
  const bytes = address.toByteArray()
  switch (address.range()) {
    case 'ipv4Mapped':
      return isPublicIpv4(new ipaddr.IPv4(bytes.slice(12)))
    case 'rfc6052':
      return address.match(TRANSLATED) && isPublicIpv4(new ipaddr.IPv4(bytes.slice(12)))
    case '6to4':
      return isPublicIpv4(new ipaddr.IPv4(bytes.slice(2, 6)))
    case 'unicast':
      return address.match(GLOBAL_UNICAST)
    default:
      return false
  }
}

/** All that is given out of version 6; the rest is old forms of private and embedded addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** The one prefix for translation that everybody uses; others are a network's own. */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Public by its number, and answered by the machine's own cloud with its secrets. */
const METADATA = ipaddr.IPv4.parseCIDR('168.63.129.16/32')

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !address.match(METADATA)
}
