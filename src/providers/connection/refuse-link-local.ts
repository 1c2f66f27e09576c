import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Addresses of the link itself, where clouds serve the secrets of the machine. */
const REFUSED = new BlockList()
REFUSED.addSubnet('169.254.0.0', 16)
REFUSED.addSubnet('fe80::', 10, 'ipv6')
REFUSED.addAddress('fd00:ec2::254', 'ipv6')

/**
 * Resolves the name of a host as usual, without addresses of the link. Whoever names a provider may name private hosts, but a name may
 * lead elsewhere later than when it was checked.
 */
export const lookUpBeyondLink: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, '')
    const addresses = found.filter(({ address }) => !isLinkLocal(address))
    const [first] = addresses
    if (first === undefined) callback(refused(), '')
    else if (options.all === true) callback(null, addresses)
    else answerOne(first, callback)
  })
}

export function isLinkLocal(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && REFUSED.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function answerOne({ address, family }: LookupAddress, callback: Parameters<LookupFunction>[2]): void {
  callback(null, address, family)
}

function refused(): NodeJS.ErrnoException {
  return Object.assign(new Error('its name leads to an address of the link itself'), { code: 'EHOSTUNREACH' })
}
