import { isRecord } from '../../kernel/is-record.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { explainFailure, type ProviderClients } from './provider-client.ts'

/** One thing that was looked at. */
interface ProviderCheck {
  readonly name: string
  /** `warning`: sign-in works, but something else does not. */
  readonly outcome: 'ok' | 'warning' | 'failed'
  readonly message: string
}

export interface ProviderTest {
  readonly isOk: boolean
  readonly checks: readonly ProviderCheck[]
}

/** Fetches what a provider says of itself, and says what is wrong. The client secret shows only at a sign-in. */
export async function testProvider(
  clients: Pick<ProviderClients, 'discover'>,
  provider: IdentityProvider,
): Promise<ProviderTest> {
  const checks: ProviderCheck[] = []
  const note = (name: string, outcome: ProviderCheck['outcome'], message: string): void => {
    checks.push({ name, outcome, message })
  }
  const done = (): ProviderTest => ({ isOk: checks.every(({ outcome }) => outcome !== 'failed'), checks })
  const metadata = await clients.discover(provider).catch((error: unknown) => {
    note('metadata', 'failed', `${provider.issuer} cannot be used: ${explainFailure(error)}.`)
    return null
  })
  if (metadata === null) return done()
  note('metadata', 'ok', 'The metadata was read, and its issuer is the one that is set here.')
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (metadata[name] === undefined) note(name, 'failed', `The metadata has no \`${name}\`.`)
  if (metadata.jwks_uri !== undefined) {
    const problem = await findKeyProblem(metadata.jwks_uri)
    note('keys', problem === null ? 'ok' : 'failed', problem ?? 'The signing keys were read.')
  }
  if (provider.issuer.startsWith('http:'))
    note(
      'encryption',
      'warning',
      'The issuer is not encrypted. Whoever is on the way can sign in as anybody.',
    )
  const methods = metadata.code_challenge_methods_supported
  if (methods?.includes('S256') !== true)
    note('pkce', 'warning', 'The metadata does not name PKCE with S256. It is sent all the same.')
  const missing = provider.scopes.filter((scope) => metadata.scopes_supported?.includes(scope) === false)
  if (missing.length > 0)
    note('scopes', 'warning', `The metadata does not name these scopes: ${missing.join(', ')}.`)
  if (metadata['backchannel_logout_supported'] !== true)
    note(
      'logout',
      'warning',
      'The metadata does not name back-channel logout: sessions end only by their age.',
    )
  return done()
}

async function findKeyProblem(address: string): Promise<string | null> {
  try {
    const response = await boundedFetch(address, {
      method: 'GET',
      redirect: 'manual',
      headers: { accept: 'application/json' },
      body: undefined,
    })
    if (response.status !== 200) return `${address} answers ${response.status}.`
    const keys: unknown = await response.json()
    if (!isRecord(keys) || !Array.isArray(keys['keys'])) return `${address} is no set of keys.`
    return keys['keys'].length === 0 ? `${address} has no keys.` : null
  } catch (error) {
    return `${address} cannot be read: ${explainFailure(error)}.`
  }
}
