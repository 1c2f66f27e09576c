import { Type } from 'typebox'
import type { Passkeys } from '../../../modules/passkeys/passkeys.ts'
import { ANY_KEY, NO_KEY } from '../../access.ts'
import { createBrowserSecret, readBrowserSecret, writeBrowserCookie } from '../../browser-cookie.ts'
import { networkOf, type UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { requireRelyingParty } from '../../relying-party.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { isSecureRequest } from '../../session-cookie.ts'
import {
  KNOWN_CREDENTIAL_EXAMPLE,
  KnownCredentialBody,
  PASSKEY_BYTES_MAX,
  RequestOptions,
} from './passkey-wire.ts'
import {
  answerWithSession,
  browserOf,
  refuseForeignPage,
  requireSession,
  SessionAnswer,
  sessionToWire,
} from './sessions.ts'

interface PasskeySignInOptions {
  readonly passkeys: Passkeys
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf' | 'admitVisitor'>
  readonly publicUrl: string | null
}

const AnswerBody = Type.Object(
  { credential: KnownCredentialBody },
  { additionalProperties: false, examples: [{ credential: KNOWN_CREDENTIAL_EXAMPLE }] },
)

const shared = { tag: 'Sessions', method: 'POST' } as const

export const passkeySignInRoutes = (options: PasskeySignInOptions): Route[] => {
  const { passkeys, guard, publicUrl } = options
  return [
    defineRoute({
      ...shared,
      path: '/v1/sessions/passkey/options',
      summary: 'Begin to sign in with a passkey',
      access: NO_KEY,
      bodyLimitBytes: 1024,
      otherErrors: [400, 403],
      responses: { 200: { description: 'What the browser asks for.', schema: RequestOptions } },
      handle: async (request) => {
        refuseForeignPage(request, options)
        guard.admitVisitor(request.exchange.incoming)
        const relyingParty = requireRelyingParty(request.headers, publicUrl)
        const visitor = visitorOf(request, options)
        return { object: 'passkey.request', public_key: await passkeys.startSignIn(visitor, relyingParty) }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/sessions/passkey',
      summary: 'Sign in with a passkey',
      access: NO_KEY,
      body: AnswerBody,
      bodyLimitBytes: PASSKEY_BYTES_MAX,
      otherErrors: [401, 403],
      responses: { 201: { description: 'The session. Its secret is in the cookie.', schema: SessionAnswer } },
      handle: async (request) => {
        refuseForeignPage(request, options)
        const relyingParty = requireRelyingParty(request.headers, publicUrl)
        const { credential } = request.body
        // Without the cookie no challenge is found, and the answer is the same as for a wrong one.
        const browserSecret = readBrowserSecret(request.exchange.incoming.headers) ?? ''
        const browser = browserOf(request, guard)
        const session = await guard.countSignIn(request.exchange.incoming, () =>
          passkeys.signIn({ credential, browserSecret, browser }, relyingParty),
        )
        return answerWithSession(request, session, options)
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/sessions/current/confirm/passkey/options',
      summary: 'Begin to confirm with a passkey',
      access: ANY_KEY,
      otherErrors: [404],
      responses: { 200: { description: 'What the browser asks for.', schema: RequestOptions } },
      handle: async ({ caller, headers }) => {
        requireSession(caller)
        const relyingParty = requireRelyingParty(headers, publicUrl)
        return { object: 'passkey.request', public_key: await passkeys.startConfirm(caller, relyingParty) }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/sessions/current/confirm/passkey',
      summary: 'Confirm with a passkey',
      access: ANY_KEY,
      body: AnswerBody,
      bodyLimitBytes: PASSKEY_BYTES_MAX,
      otherErrors: [404],
      responses: { 200: { description: 'The session, confirmed for 15 minutes.', schema: SessionAnswer } },
      handle: async ({ caller, headers, exchange, body }) => {
        requireSession(caller)
        const relyingParty = requireRelyingParty(headers, publicUrl)
        const session = await guard.countSignIn(exchange.incoming, () =>
          passkeys.confirm(caller, body.credential, relyingParty),
        )
        return sessionToWire(session, caller.session?.id)
      },
    }),
  ]
}

type VisitRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'exchange' | 'reply'>

/** Gives the browser a secret, if it has none, to which the challenge is bound. */
export function visitorOf(
  { exchange, reply }: VisitRequest,
  {
    guard,
    publicUrl,
  }: Pick<PasskeySignInOptions, 'publicUrl'> & { guard: Pick<UnauthenticatedGuard, 'addressOf'> },
): { browserSecret: string; network: string } {
  const { headers } = exchange.incoming
  const browserSecret = readBrowserSecret(headers) ?? createBrowserSecret()
  reply.header('set-cookie', writeBrowserCookie(browserSecret, isSecureRequest(headers, publicUrl)))
  reply.header('cache-control', 'no-store')
  return { browserSecret, network: networkOf(guard.addressOf(exchange.incoming)) }
}
