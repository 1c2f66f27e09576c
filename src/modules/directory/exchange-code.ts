import {
  authorizationCodeGrant,
  AuthorizationResponseError,
  ClientError,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type Configuration,
} from 'openid-client'
import type { SealedProvider } from './identity-provider.ts'
import { explainFailure } from './provider-client.ts'
import { needsUserInfo, readPerson, type PersonAtProvider } from './read-claims.ts'
import { SignInProblem } from './sign-in-problem.ts'
import type { SignInState } from './sign-in-state.ts'

/**
 * Exchanges the code of a provider's answer for what it says of the person. The library checks state, issuer, audience, nonce, times and
 * signature. The tokens are not kept.
 */
export async function exchangeCode(
  client: Configuration,
  provider: SealedProvider,
  begun: SignInState,
  answer: URLSearchParams,
): Promise<PersonAtProvider> {
  const url = new URL(begun.redirectUri)
  url.search = answer.toString()
  try {
    const tokens = await authorizationCodeGrant(client, url, {
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      pkceCodeVerifier: begun.codeVerifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new SignInProblem('invalid_answer', { detail: 'There is no ID token.' })
    const asks = needsUserInfo(claims, provider) && client.serverMetadata().userinfo_endpoint !== undefined
    const userInfo = asks ? await fetchUserInfo(client, tokens.access_token, claims.sub) : {}
    return readPerson({ ...claims }, { ...userInfo }, provider)
  } catch (error) {
    throw error instanceof SignInProblem ? error : problemOf(error)
  }
}

function problemOf(error: unknown): SignInProblem {
  if (error instanceof AuthorizationResponseError) {
    const detail = `The provider answered ${error.error}: ${error.error_description ?? ''}`.slice(0, 500)
    return new SignInProblem(REASONS_OF_ANSWERS.get(error.error) ?? 'provider_refused', {
      detail,
      cause: error,
    })
  }
  const detail = explainFailure(error)
  if (error instanceof ResponseBodyError) {
    const said = `${detail}: ${error.error} ${error.error_description ?? ''}`.slice(0, 500)
    if (error.status >= 500) return new SignInProblem('provider_unreachable', { detail: said, cause: error })
    // The code was used before, is too old, or was begun elsewhere.
    const reason = error.error === 'invalid_grant' ? 'begin_again' : 'provider_refused'
    return new SignInProblem(reason, { detail: said, cause: error })
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return new SignInProblem('provider_refused', { detail, cause: error })
  return new SignInProblem(isOutage(error) ? 'provider_unreachable' : 'invalid_answer', {
    detail,
    cause: error,
  })
}

const REASONS_OF_ANSWERS: ReadonlyMap<string, 'cancelled' | 'provider_unreachable' | 'not_fresh'> = new Map([
  ['access_denied', 'cancelled'],
  ['interaction_required', 'cancelled'],
  ['login_required', 'not_fresh'],
  ['server_error', 'provider_unreachable'],
  ['temporarily_unavailable', 'provider_unreachable'],
])

/** Whether the provider did not answer, or not with what its endpoints answer. */
function isOutage(error: unknown): boolean {
  if (error instanceof TypeError) return true
  if (!(error instanceof ClientError)) return false
  if (OUTAGES.has(error.code ?? '')) return true
  const { cause } = error
  return cause instanceof TypeError || (cause instanceof Response && cause.status >= 500)
}

const OUTAGES: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT'])
