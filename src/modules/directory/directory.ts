import { buildAuthorizationUrl, calculatePKCECodeChallenge, randomPKCECodeVerifier } from 'openid-client'
import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordFailedSignIn } from '../audit/audit.ts'
import type { Browser, Sessions } from '../sessions/sessions.ts'
import { createIdentityProviders, type IdentityProviders } from './change-providers.ts'
import type { Caller } from '../keys/keys.ts'
import { createProviderLogout } from './end-provider-sessions.ts'
import { actorOf } from './enter-account.ts'
import { exchangeCode } from './exchange-code.ts'
import { confirmSession, startSession, type FinishOptions } from './finish-sign-in.ts'
import { listIdentities, removeIdentity, type Identity, type IdentityRemoval } from './identities.ts'
import { findProvider, listProviders, type SealedProvider } from './identity-provider.ts'
import { linkIdentity, sealTicket } from './link-identity.ts'
import { createProviderClients } from './provider-client.ts'
import { returnPathOf } from './return-path.ts'
import { SignInProblem, type SignInProblemReason } from './sign-in-problem.ts'
import {
  createState,
  openState,
  sealState,
  slotOf,
  type SessionOfPerson,
  type SignInState,
} from './sign-in-state.ts'

export { ACCOUNT_RULES, type IdentityProvider } from './identity-provider.ts'
export type { Identity } from './identities.ts'
export { SEALED_CLIENT_SECRETS } from './provider-client.ts'
export { SignInProblem } from './sign-in-problem.ts'
export { SIGN_IN_LIFE_MS, slotOf } from './sign-in-state.ts'
export type { ProviderChange, ProviderDraft } from './change-providers.ts'

export interface DirectoryOptions extends FinishOptions {
  readonly clock: Clock
  readonly sealer: Sealer
  readonly logger: Logger
}

interface SignInOrder {
  readonly providerId: string
  /** Where the person wants to go afterwards. */
  readonly returnTo: string | undefined
  readonly redirectUri: string
  /** The account that the person wants to enter. Null: the one that they used last. */
  readonly accountId: string | null
  /** The session that the person confirms. Null: a new one begins. */
  readonly confirms: SessionOfPerson | null
  /** The session whose person links an identity of this provider. Null: a new one begins. */
  readonly links: SessionOfPerson | null
  readonly browser: Browser
}

interface BegunSignIn {
  /** Where the browser goes. */
  readonly url: string
  /** For the cookie of this number, in which only this browser keeps it. */
  readonly sealed: string
  readonly slot: number
}

interface ProviderAnswer {
  /** The query of the address that the provider sent the browser to. */
  readonly query: URLSearchParams
  /** The cookie with the state of the answer. */
  readonly sealed: string | null
  readonly browser: Browser
}

interface FinishedSignIn {
  readonly returnPath: string
  /** Null if the person confirmed the session that they have, or links an identity. */
  readonly session: Awaited<ReturnType<Sessions['startForPerson']>> | null
}

/** Signing in with an account of a company, by OpenID Connect. */
export interface Directory {
  readonly providers: IdentityProviders
  /** The providers that a sign-in page offers. */
  listSignInProviders(): Promise<{ readonly id: string; readonly name: string }[]>
  /** Throws a `SignInProblem` if the provider does not answer, and `not_found` for an unknown one. */
  begin(order: SignInOrder): Promise<BegunSignIn>
  /** Throws a `SignInProblem` for everything that may happen. */
  finish(answer: ProviderAnswer): Promise<FinishedSignIn>
  /** The identities of a member. */
  listIdentities(member: {
    readonly accountId: string
    readonly userId: string
  }): Promise<readonly Identity[]>
  /** Links an identity by the ticket of a finished sign-in. Throws unless the caller is the session that began it. */
  linkIdentity(caller: Caller & { readonly userId: string }, ticket: string): Promise<Identity>
  removeIdentity(removal: IdentityRemoval): Promise<Identity>
  /** Back-channel logout. Returns how many sessions ended. Throws for a token that is not the provider's, or was used before. */
  endByToken(providerId: string, token: string): Promise<number>
  /** Front-channel logout. Returns the origin of the provider, which may show the answer. */
  endBySession(providerId: string, issuer: string, session: string): Promise<{ origin: string }>
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { database, clock, sealer, logger } = options
  const clients = createProviderClients({ clock, sealer })
  const logout = createProviderLogout({ database, clients })
  const findEnabled = async (providerId: string): Promise<SealedProvider> => {
    const provider = await findProvider(database, providerId)
    if (provider === null || !provider.isEnabled) throw notFound('identity provider')
    return provider
  }
  return {
    providers: createIdentityProviders({ database, clock, sealer, clients }),
    listSignInProviders: async () => {
      const providers = await listProviders(database)
      return providers.filter(({ isEnabled }) => isEnabled).map(({ id, name }) => ({ id, name }))
    },
    begin: async (order) => {
      const provider = await findEnabled(order.providerId)
      const client = await clients.open(provider).catch(async (error: unknown) => {
        throw await noteProblem(options, { provider, browser: order.browser }, error)
      })
      const begun: SignInState = {
        providerId: provider.id,
        state: createState(),
        nonce: createState(),
        codeVerifier: randomPKCECodeVerifier(),
        redirectUri: order.redirectUri,
        returnPath: returnPathOf(order.returnTo),
        accountId: order.accountId,
        confirms: order.confirms,
        links: order.links,
        begunAtMs: clock.nowMs(),
      }
      const url = buildAuthorizationUrl(client, {
        redirect_uri: begun.redirectUri,
        scope: provider.scopes.join(' '),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await calculatePKCECodeChallenge(begun.codeVerifier),
        code_challenge_method: 'S256',
        ...(order.confirms === null && order.links === null ? {} : { prompt: 'login', max_age: '0' }),
      })
      return { url: url.href, sealed: sealState(sealer, begun), slot: slotOf(begun.state) }
    },
    finish: async ({ query, sealed, browser }) => {
      const begun = sealed === null ? null : openState(sealer, sealed, clock.nowMs())
      if (begun === null || query.get('state') !== begun.state) throw new SignInProblem('begin_again')
      const provider = await findProvider(database, begun.providerId)
      if (provider === null || !provider.isEnabled) throw new SignInProblem('begin_again')
      try {
        const person = await exchangeCode(await clients.open(provider), provider, begun, query)
        const { returnPath, confirms, links = null } = begun
        const nowMs = clock.nowMs()
        if (links !== null) {
          const ticket = await sealTicket({ database, sealer }, { provider, person, begun, nowMs }, links)
          return { returnPath: `/profile?link=${ticket}`, session: null }
        }
        if (confirms !== null) {
          await confirmSession(options, { provider, person, begun, nowMs }, confirms)
          return { returnPath, session: null }
        }
        const session = await startSession(options, { provider, person, begun, browser, nowMs })
        return { returnPath, session }
      } catch (error) {
        throw await noteProblem(options, { provider, browser }, error)
      }
    },
    listIdentities: (member) => listIdentities(database, member),
    linkIdentity: (caller, ticket) =>
      linkIdentity({ database, sealer, nowMs: clock.nowMs() }, caller, ticket),
    removeIdentity: (removal) => removeIdentity(database, removal),
    endByToken: async (providerId, token) => {
      const provider = await findEnabled(providerId)
      const ended = await logout.endByToken(provider, token, clock.nowMs())
      logger.info({ provider: provider.name, ended }, 'an identity provider ended sessions')
      return ended
    },
    endBySession: async (providerId, issuer, session) => {
      const provider = await findEnabled(providerId)
      await logout.endBySession(provider, issuer, session)
      return { origin: new URL(provider.issuer).origin }
    },
  }
}

/** These say nothing about the provider or the person: anybody can cause them. */
const NOT_NOTED: ReadonlySet<SignInProblemReason> = new Set(['cancelled', 'begin_again'])

/** Tells operators and the account about a failed sign-in. Returns what the person is told. */
async function noteProblem(
  { database, clock, logger }: DirectoryOptions,
  { provider, browser }: { provider: SealedProvider; browser: Browser },
  error: unknown,
): Promise<unknown> {
  if (error instanceof AppError && error.code === 'invalid_session') return new SignInProblem('session_ended')
  if (!(error instanceof SignInProblem) || NOT_NOTED.has(error.reason)) return error
  const { reason, detail, accountId, userId } = error
  logger.warn({ provider: provider.name, reason, detail }, 'a sign-in with an identity provider failed')
  await database.query(
    'UPDATE identity_providers SET last_failure_at = $2, last_failure = $3 WHERE id = $1',
    [provider.id, new Date(clock.nowMs()), detail],
  )
  if (accountId !== null) {
    await recordFailedSignIn(database, {
      accountId,
      projectId: null,
      resourceId: userId === null ? wireId('organization', accountId) : wireId('user', userId),
      actor: { ...actorOf(provider, accountId), origin: browser },
      origin: browser,
      error: { code: reason, message: detail },
    })
  }
  return error
}

/** Deletes what could not be used again anyway. */
export async function sweepDirectory(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM used_directory_tokens WHERE expires_at <= now()')
}
