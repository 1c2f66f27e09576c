import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** A local issuer of tokens, such as a CI system. */
export interface IssuerServer {
  readonly url: string
  readonly host: string
  /** Requests for its keys. */
  readonly keyReads: () => number
  /** The times are those of a token that was made now. */
  sign(payload: JWTPayload, options?: { alg?: string }): Promise<string>
  key(): { readonly kid: string; readonly privateKey: CryptoKey; readonly publicJwk: JWK }
  setAway(isAway: boolean): void
  close(): Promise<void>
}

export async function startIssuerServer(): Promise<IssuerServer> {
  let number = 0
  const makeKey = async () => {
    number += 1
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const kid = `key-${number}`
    return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } }
  }
  const key = await makeKey()
  let isAway = false
  let keyReads = 0
  const server: ScriptedServer = await startScriptedServer(({ path }) => {
    if (isAway) return { status: 503, chunks: ['away'] }
    if (path === '/.well-known/openid-configuration')
      return {
        headers: JSON_TYPE,
        chunks: [JSON.stringify({ issuer: server.baseUrl, jwks_uri: `${server.baseUrl}/keys` })],
      }
    if (path !== '/keys') return { status: 404, chunks: ['no'] }
    keyReads += 1
    return { headers: JSON_TYPE, chunks: [JSON.stringify({ keys: [key.publicJwk] })] }
  })
  return {
    url: server.baseUrl,
    host: new URL(server.baseUrl).host,
    keyReads: () => keyReads,
    sign: (payload, { alg = 'RS256' } = {}) => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: server.baseUrl, iat: now, nbf: now, exp: now + 600, ...payload }
      return new SignJWT(claims).setProtectedHeader({ alg, kid: key.kid, typ: 'JWT' }).sign(key.privateKey)
    },
    key: () => key,
    setAway: (next) => {
      isAway = next
    },
    close: () => server.close(),
  }
}
