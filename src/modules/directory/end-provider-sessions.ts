import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload } from 'jose'
import { AppError } from '../../kernel/app-error.ts'
import { BoundedMap } from '../../kernel/bounded-map.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import { boundedFetch, PROVIDER_SECONDS_MAX } from './bounded-fetch.ts'
import { actorOf } from './enter-account.ts'
import { useOnce } from './finish-sign-in.ts'
import type { SealedProvider } from './identity-provider.ts'
import { explainFailure, type ProviderClients } from './provider-client.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** Ends sessions because the provider says that the person left. */
export interface ProviderLogout {
  /** Back-channel logout: a signed token names a session of the provider, or a person. Returns how many sessions ended. */
  endByToken(provider: SealedProvider, token: string, nowMs: number): Promise<number>
  /** Front-channel logout: the browser names the session of the provider, which only provider and browser know. */
  endBySession(provider: SealedProvider, issuer: string, session: string): Promise<number>
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const TOKEN_LENGTH_MAX = 16 * 1024
const TOKEN_AGE_SECONDS_MAX = 10 * 60
const CLOCK_SKEW_SECONDS = 60
const KEYS_AGE_MS_MAX = 5 * 60_000
/** New keys are asked for at most this often, because anybody may send tokens with unknown ones. */
const KEYS_PAUSE_MS = 5_000
const PROVIDERS_MAX = 200

type KeySet = ReturnType<typeof createRemoteJWKSet>

export function createProviderLogout({
  database,
  clients,
}: {
  database: Database
  clients: Pick<ProviderClients, 'open'>
}): ProviderLogout {
  const keySets = new BoundedMap<string, KeySet>({ entriesMax: PROVIDERS_MAX })
  const keySetOf = (address: string): KeySet => {
    const known = keySets.get(address)
    if (known !== undefined) return known
    const keySet = createRemoteJWKSet(new URL(address), {
      timeoutDuration: PROVIDER_SECONDS_MAX * 1000,
      cooldownDuration: KEYS_PAUSE_MS,
      cacheMaxAge: KEYS_AGE_MS_MAX,
      [customFetch]: (url, { headers, method, signal, redirect }) =>
        boundedFetch(url, {
          method,
          redirect,
          signal,
          headers: Object.fromEntries(headers),
          body: undefined,
        }),
    })
    keySets.set(address, keySet)
    return keySet
  }
  return {
    endByToken: async (provider, token, nowMs) => {
      if (token.length > TOKEN_LENGTH_MAX) throw invalidToken('it is too long')
      const client = await clients.open(provider)
      const { jwks_uri: address, issuer } = client.serverMetadata()
      if (address === undefined) throw invalidToken('the provider has no keys')
      const { payload } = await jwtVerify(token, keySetOf(address), {
        issuer,
        audience: provider.clientId,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_SECONDS,
        maxTokenAge: TOKEN_AGE_SECONDS_MAX,
        currentDate: new Date(nowMs),
        requiredClaims: ['iat', 'jti'],
      }).catch((error: unknown) => {
        throw error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)
          ? invalidToken(explainFailure(error))
          : new SignInProblem('provider_unreachable', { detail: explainFailure(error), cause: error })
      })
      const { jti, session, subject } = readLogout(payload)
      return database.transaction(async (transaction) => {
        const untilMs = nowMs + (TOKEN_AGE_SECONDS_MAX + 2 * CLOCK_SKEW_SECONDS) * 1000
        await useOnce(transaction, { providerId: provider.id, token: `logout ${jti}`, untilMs }).catch(
          (error: unknown) => {
            throw error instanceof SignInProblem ? invalidToken('it was used before') : error
          },
        )
        return endSessions(transaction, provider, { session, subject })
      })
    },
    endBySession: (provider, issuer, session) => {
      if (issuer !== provider.issuer) return Promise.resolve(0)
      return database.transaction((transaction) =>
        endSessions(transaction, provider, { session, subject: null }),
      )
    },
  }
}

/** Those with which only the provider can sign: no secret that this gateway has too, and not `none`. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

interface Logout {
  readonly jti: string
  readonly session: string | null
  readonly subject: string | null
}

function readLogout(payload: JWTPayload): Logout {
  const { events, nonce, sid, sub, jti } = payload
  // An ID token has a nonce. It must not end sessions.
  if (nonce !== undefined) throw invalidToken('it has a nonce')
  if (!isRecord(events) || !isRecord(events[EVENT])) throw invalidToken('it is not about a logout')
  const session = typeof sid === 'string' && sid !== '' ? sid : null
  const subject = typeof sub === 'string' && sub !== '' ? sub : null
  if (session === null && subject === null) throw invalidToken('it names neither a session nor a person')
  if (typeof jti !== 'string' || jti === '') throw invalidToken('it has no id')
  return { jti, session, subject }
}

function invalidToken(reason: string): AppError {
  return new AppError('invalid_value', `The logout token is not valid: ${reason}.`, { param: 'logout_token' })
}

/** Requests of sessions that have ended are refused at once by every process, because each reads its session. */
async function endSessions(
  transaction: Queryable,
  provider: SealedProvider,
  { session, subject }: Pick<Logout, 'session' | 'subject'>,
): Promise<number> {
  const rows = await transaction.query<{ id: string; account_id: string; user_id: string }>(
    `DELETE FROM sessions s USING api_keys k WHERE k.id = s.key_id AND s.issuer_id = $1
       AND ($2::text IS NULL OR s.issuer_session = $2)
       AND ($3::text IS NULL OR EXISTS (SELECT FROM identities i WHERE i.provider_id = $1 AND i.subject = $3
         AND i.account_id = s.account_id AND i.user_id = k.user_id))
     RETURNING s.id, s.account_id, k.user_id`,
    [provider.id, session, subject],
  )
  for (const { id, account_id: accountId } of rows) {
    await recordChange(transaction, {
      actor: actorOf(provider, accountId),
      accountId,
      type: 'logout.succeeded',
      projectId: null,
      resourceId: id,
    })
  }
  return rows.length
}
