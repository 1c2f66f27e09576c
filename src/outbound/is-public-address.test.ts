import { assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { isPublicAddress } from './is-public-address.ts'

it.each([
  '8.8.8.8',
  '1.1.1.1',
  '93.184.216.34',
  '172.32.0.1',
  '2606:2800:220:1:248:1893:25c8:1946',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:0:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::808:808',
  '2002:7f00:1::',
  '2002:c0a8:101::1',
  '2001:0:53aa:64c::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'not an address',
  '',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

it('an IPv4 address inside an IPv6 address is as public as it is alone', () => {
  const byte = integer({ min: 0, max: 255 })
  assert(
    property(byte, byte, byte, byte, (...bytes) => {
      const isPublic = isPublicAddress(bytes.join('.'))
      const [a, b, c, d] = bytes.map((value) => value.toString(16).padStart(2, '0'))
      expect(isPublicAddress(`::ffff:${bytes.join('.')}`)).toBe(isPublic)
      expect(isPublicAddress(`64:ff9b::${a}${b}:${c}${d}`)).toBe(isPublic)
      expect(isPublicAddress(`2002:${a}${b}:${c}${d}::1`)).toBe(isPublic)
    }),
  )
})
