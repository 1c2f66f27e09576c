import { expect, it } from 'vitest'
import { isNetwork } from './is-network.ts'

it.each(['10.0.0.7', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::ffff:10.0.0.1', '2001:db8::/128'])(
  '%s is an address or a network',
  (text) => {
    expect(isNetwork(text)).toBe(true)
  },
)

it.each([
  '',
  'proxy',
  '10.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '::/129',
  '::/-1',
  'fe80::1%eth0',
])('%j is not an address or a network', (text) => {
  expect(isNetwork(text)).toBe(false)
})
