import { describe, expect, test } from 'vitest'
import { findForeignOrigin } from '../../cli/proxy/check-origin.ts'

const local = { isLocal: true, allowedHosts: ['gateway.test'] }
const open = { ...local, isLocal: false }

describe('a request is taken', () => {
  test.each([
    [{ host: '127.0.0.1:7878' }],
    [{ host: 'localhost:7878' }],
    [{ host: '[::1]:7878' }],
    [{ host: 'gateway.test:7878' }],
    [{ host: 'localhost:7878', origin: 'http://localhost:7878', 'sec-fetch-site': 'same-origin' }],
    [{ host: 'localhost:7878', 'sec-fetch-site': 'none' }],
  ])('%j', (headers) => expect(findForeignOrigin(headers, local)).toBeNull())
  test('a request is taken by address, where the proxy listens on more than loopback', () =>
    expect(findForeignOrigin({ host: '192.168.0.7:7878' }, open)).toBeNull())
})

describe('a request of a foreign page is refused', () => {
  test.each([
    [{}],
    [{ host: 'evil.example:7878' }],
    [{ host: '192.168.0.7:7878' }],
    [{ host: '127.0.0.1.evil.example:7878' }],
    [{ host: 'user@127.0.0.1' }],
    [{ host: 'localhost:7878', origin: 'https://evil.example' }],
    [{ host: 'localhost:7878', origin: 'http://localhost:3000' }],
    [{ host: 'localhost:7878', origin: 'null' }],
    [{ host: 'localhost:7878', 'sec-fetch-site': 'cross-site' }],
    [{ host: 'localhost:7878', 'sec-fetch-site': 'same-site' }],
  ])('%j', (headers) => expect(findForeignOrigin(headers, local)).not.toBeNull())
  test('a request of a foreign page is refused by a name that was not allowed, where the proxy listens on more than loopback', () =>
    expect(findForeignOrigin({ host: 'evil.example:7878' }, open)).not.toBeNull())
})
