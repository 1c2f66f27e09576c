import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createClientAddress } from './client-address.ts'

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

describe('createClientAddress', () => {
  it("uses the connection's address if no proxy is trusted", () => {
    expect(createClientAddress([])(request('203.0.113.9', '1.2.3.4'))).toBe('203.0.113.9')
  })

  it('uses the last untrusted address on the way through trusted proxies', () => {
    const addressOf = createClientAddress(['10.0.0.0/8', '::1', '192.0.2.7'])
    expect(addressOf(request('10.1.2.3', '1.2.3.4, 198.51.100.5, 192.0.2.7'))).toBe('198.51.100.5')
    expect(addressOf(request('::ffff:10.1.2.3', '198.51.100.5'))).toBe('198.51.100.5')
    expect(addressOf(request('::1', '2001:db8::7'))).toBe('2001:db8::7')
    expect(addressOf(request('10.1.2.3'))).toBe('10.1.2.3')
    expect(addressOf(request('10.1.2.3', 'garbage'))).toBe('10.1.2.3')
  })

  it('ignores a forwarded header of an untrusted client', () => {
    expect(createClientAddress(['10.0.0.0/8'])(request('203.0.113.9', '10.9.9.9'))).toBe('203.0.113.9')
  })

  it('refuses a value that is not an address', () => {
    expect(() => createClientAddress(['everywhere'])).toThrow(RangeError)
  })
})
