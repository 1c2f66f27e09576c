import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Outbound } from '../../outbound/outbound.ts'
import { createIssuerKeys, IssuerAway, type IssuerKeys } from './issuer-keys.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'
import { verifyToken } from './verify-token.ts'

const ISSUER = 'https://issuer.example.com'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Key {
  readonly jwk: JWK
  sign(nowMs: number): Promise<string>
}

async function makeKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' },
    sign: (nowMs) =>
      new SignJWT({ sub: 'x' })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer(ISSUER)
        .setAudience('here')
        .setIssuedAt(Math.floor(nowMs / 1000))
        .setExpirationTime(Math.floor(nowMs / 1000) + 600)
        .sign(privateKey),
  }
}

let first: Key
let second: Key
let now = 0
let published: unknown[] = []
let isAway = false
let metadata: object = {}
let asked: string[] = []
let issuerKeys: IssuerKeys

beforeAll(async () => {
  first = await makeKey('first')
  second = await makeKey('second')
})

beforeEach(() => {
  now = Date.UTC(2026, 10, 19)
  published = [first.jwk]
  isAway = false
  metadata = { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` }
  asked = []
  issuerKeys = createIssuerKeys({ outbound: { fetch: answer }, nowMs: () => now })
})

const answer: Outbound['fetch'] = async ({ url }) => {
  asked.push(url)
  if (isAway) throw new Error('away')
  const value = url.endsWith('/keys') ? { keys: published } : metadata
  return {
    status: 200,
    contentType: 'application/json',
    contentLength: null,
    header: () => null,
    body: (async function* () {
      yield Buffer.from(JSON.stringify(value))
    })(),
    discard: () => {},
  }
}

const TRUSTED: TrustedIssuer = {
  id: '',
  accountId: '',
  projectId: '',
  name: 'x',
  issuer: ISSUER,
  audience: 'here',
  algorithms: ['ES256'],
  jwks: null,
  rules: [],
  createdAtMs: 0,
}

const verify = async (key: Key) =>
  (await verifyToken(await key.sign(now), TRUSTED, { issuerKeys, nowMs: now }))?.sub ?? null

describe('the keys of an issuer', () => {
  test('are read once for many tokens', async () => {
    expect([await verify(first), await verify(first)]).toEqual(['x', 'x'])
    expect(asked).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`])
  })

  test('are read again for a new one, at most twice a minute, and a withdrawn one is refused', async () => {
    await verify(first)
    published = [second.jwk]
    expect(await verify(second)).toBeNull()
    expect(asked).toHaveLength(2)
    now += MINUTE_MS / 2
    expect(await verify(second)).toBe('x')
    expect(await verify(first)).toBeNull()
    expect(await verify(first)).toBeNull()
    expect(asked).toHaveLength(4)
  })

  test('known before work for a day while the issuer is away, and then no longer', async () => {
    await verify(first)
    isAway = true
    now += 23 * HOUR_MS
    expect(await verify(first)).toBe('x')
    now += 2 * HOUR_MS
    await expect(verify(first)).rejects.toThrow(IssuerAway)
    isAway = false
    now += MINUTE_MS
    expect(await verify(first)).toBe('x')
  })

  test('are not asked for again at once if the issuer is away', async () => {
    isAway = true
    for (let count = 0; count < 5; count += 1) await expect(verify(first)).rejects.toThrow(IssuerAway)
    expect(asked).toHaveLength(1)
  })

  test.each([
    ['metadata of another issuer', { issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/keys` }],
    ['metadata without keys', { issuer: ISSUER }],
    ['an address of keys without encryption', { issuer: ISSUER, jwks_uri: 'http://issuer.example.com/keys' }],
    ['an address that is none', { issuer: ISSUER, jwks_uri: 7 }],
  ])('are not taken with %s', async (_name, wrong) => {
    metadata = wrong
    await expect(verify(first)).rejects.toThrow(IssuerAway)
    expect(asked).toHaveLength(1)
  })

  test('are not taken if they are shared secrets', async () => {
    published = [{ kty: 'oct', kid: 'first', k: 'c2VjcmV0' }]
    expect(await verify(first)).toBeNull()
  })
})
