import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client'
import { BoundedMap } from '../../kernel/bounded-map.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { SealedColumn } from '../../storage/sealed-columns.ts'
import { boundedFetch, PROVIDER_SECONDS_MAX } from './bounded-fetch.ts'
import type { SealedProvider } from './identity-provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

type ReachedProvider = Pick<SealedProvider, 'id' | 'issuer' | 'clientId' | 'sealedSecret'>

/** Reads what providers say of themselves, and remembers it for a while. */
export interface ProviderClients {
  /**
   * Returns a client of the provider. Each has keys of its own, so that it always reads those that the provider has now. Throws a problem if
   * the provider does not answer.
   */
  open(provider: ReachedProvider): Promise<Configuration>
  /** Reads the metadata again. Throws what exactly is wrong. */
  discover(provider: Pick<SealedProvider, 'issuer'>): Promise<ServerMetadata>
  forget(providerId: string): void
}

const METADATA_MS = 10 * 60_000
const PROVIDERS_MAX = 200

export function createProviderClients({ clock, sealer }: { clock: Clock; sealer: Sealer }): ProviderClients {
  const remembered = new BoundedMap<string, { metadata: Promise<ServerMetadata>; untilMs: number }>({
    entriesMax: PROVIDERS_MAX,
  })
  const readMetadata = (provider: ReachedProvider): Promise<ServerMetadata> => {
    const known = remembered.get(provider.id)
    if (known !== undefined && known.untilMs > clock.nowMs()) return known.metadata
    const metadata = discover(provider)
    const entry = { metadata, untilMs: clock.nowMs() + METADATA_MS }
    remembered.set(provider.id, entry)
    // A failure is not remembered: the provider may be back at once.
    metadata.catch(() => {
      if (remembered.get(provider.id) === entry) remembered.delete(provider.id)
    })
    return metadata
  }
  return {
    open: async (provider) => {
      const metadata = await readMetadata(provider).catch((cause: unknown) => {
        throw new SignInProblem('provider_unreachable', { detail: explainFailure(cause), cause })
      })
      const secret = openSecret(sealer, provider)
      const client = new Configuration(
        { ...metadata },
        provider.clientId,
        undefined,
        authenticationOf(metadata, secret),
      )
      client[customFetch] = boundedFetch
      client.timeout = PROVIDER_SECONDS_MAX
      enableNonRepudiationChecks(client)
      // oxlint-disable-next-line typescript/no-deprecated -- only for issuers that an operator named with http, in a private network
      if (isPlain(provider.issuer)) allowInsecureRequests(client)
      return client
    },
    discover,
    forget: (providerId) => remembered.delete(providerId),
  }
}

const SECRET_PLACE = 'client secret of identity provider '

export const SEALED_CLIENT_SECRETS: SealedColumn = {
  table: 'identity_providers',
  column: 'client_secret',
  key: { id: 'uuid' },
  boundTo: ['id'],
  placeOf: (id) => SECRET_PLACE + id,
}

export function sealSecret(sealer: Sealer, providerId: string, secret: string): Buffer {
  return sealer.seal(secret, SECRET_PLACE + providerId)
}

function openSecret(sealer: Sealer, { id, sealedSecret }: ReachedProvider): string | null {
  if (sealedSecret === null) return null
  const secret = sealer.open(sealedSecret, SECRET_PLACE + id)
  if (secret !== null) return secret
  throw new SignInProblem('provider_refused', {
    detail: 'The client secret cannot be opened with the sealing key of this gateway. Enter it again.',
  })
}

async function discover({ issuer }: Pick<SealedProvider, 'issuer'>): Promise<ServerMetadata> {
  const client = await discovery(new URL(issuer), 'discovery', undefined, None(), {
    [customFetch]: boundedFetch,
    timeout: PROVIDER_SECONDS_MAX,
    // oxlint-disable-next-line typescript/no-deprecated -- as above
    ...(isPlain(issuer) ? { execute: [allowInsecureRequests] } : {}),
  })
  const metadata = client.serverMetadata()
  // The library accepts issuers that stand for many companies, in which anybody can have any address.
  if (new URL(metadata.issuer).href !== new URL(issuer).href)
    throw new Error(`the metadata is of the issuer ${metadata.issuer}`)
  return metadata
}

/** Returns what an operator can do something with. */
export function explainFailure(error: unknown): string {
  const messages: string[] = []
  for (let cause: unknown = error; cause instanceof Error && messages.length < 4; cause = cause.cause)
    if (cause.message !== '') messages.push(cause.message)
  return [...new Set(messages)].join(': ').slice(0, 500) || 'unknown'
}

/** Basic is what a provider has to support if it names nothing. */
function authenticationOf(metadata: ServerMetadata, secret: string | null): ClientAuth {
  if (secret === null) return None()
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
}

function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:')
}
