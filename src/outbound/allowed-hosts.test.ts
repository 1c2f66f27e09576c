import { expect, it } from 'vitest'
import { isAllowedHostEntry, parseAllowedHosts } from './allowed-hosts.ts'

it('a name allows all its ports, a name with a port only that one', () => {
  const hosts = parseAllowedHosts(['comfy.internal', 'Render.internal:8188', 'plain.internal:443'])
  expect(hosts.hasHost(new URL('http://comfy.internal:1234/x'))).toBe(true)
  expect(hosts.hasHost(new URL('http://render.internal:8188/'))).toBe(true)
  expect(hosts.hasHost(new URL('http://render.internal:8189/'))).toBe(false)
  expect(hosts.hasHost(new URL('https://plain.internal/'))).toBe(true)
  expect(hosts.hasHost(new URL('http://plain.internal/'))).toBe(false)
  expect(hosts.hasHost(new URL('http://evil-comfy.internal/'))).toBe(false)
})

it('an address or a network allows what is in it, in any notation', () => {
  const hosts = parseAllowedHosts(['10.0.0.0/8', '192.168.1.7', 'fd00::/8'])
  expect(hosts.hasAddress('10.255.0.1')).toBe(true)
  expect(hosts.hasAddress('::ffff:10.0.0.1')).toBe(true)
  expect(hosts.hasAddress('192.168.1.7')).toBe(true)
  expect(hosts.hasAddress('192.168.1.8')).toBe(false)
  expect(hosts.hasAddress('fd12::1')).toBe(true)
  expect(hosts.hasAddress('11.0.0.1')).toBe(false)
})

it.each(['name', 'name.internal:80', '10.0.0.1', '10.0.0.1:80', '10.0.0.0/8', '::1', '[::1]:80', 'fd00::/8'])(
  '%s can be allowed',
  (entry) => {
    expect(isAllowedHostEntry(entry)).toBe(true)
  },
)

it.each(['http://name', 'name/path', '10.0.0.0/40', 'user@name', 'a b', 'name?x', ''])(
  '%s is not a host',
  (entry) => {
    expect(isAllowedHostEntry(entry)).toBe(false)
  },
)
