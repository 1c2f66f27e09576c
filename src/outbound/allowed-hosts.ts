import ipaddr from 'ipaddr.js'
import { lookupTable } from '../kernel/lookup-table.ts'

/** Hosts and networks that may be private. */
export interface AllowedHosts {
  /** Whether the host is allowed by name, whatever it resolves to. */
  hasHost(url: URL): boolean
  hasAddress(address: string): boolean
}

/** Parses the allowed hosts. Entries are `name`, `name:port`, an address, or a network such as `10.0.0.0/8`. */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  const hosts = new Set(entries.map((entry) => entry.toLowerCase()))
  const networks = entries.map(parseNetwork).filter((network) => network !== null)
  return {
    hasHost(url) {
      const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port
      const name = url.hostname.toLowerCase()
      return hosts.has(name) || hosts.has(`${name}:${port}`)
    },
    hasAddress(text) {
      if (networks.length === 0 || !ipaddr.isValid(text)) return false
      const address = ipaddr.process(text)
      return networks.some(
        ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
      )
    },
  }
}

/** Returns whether the text is a valid entry. */
export function isAllowedHostEntry(text: string): boolean {
  if (text.includes('/')) return parseNetwork(text) !== null
  if (ipaddr.isValid(text)) return true
  if (!URL.canParse(`http://${text}`)) return false
  const { hostname, pathname, search, username, password } = new URL(`http://${text}`)
  return hostname !== '' && `${pathname}${search}${username}${password}` === '/' && !/[?#@]/.test(text)
}

const DEFAULT_PORTS = lookupTable<string>({ 'http:': '80', 'https:': '443' })

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  return [address, address instanceof ipaddr.IPv4 ? 32 : 128]
}
