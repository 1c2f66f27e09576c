import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { AppError } from '../../../kernel/app-error.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Browser, Session, Sessions } from '../../../modules/sessions/sessions.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { originOf } from '../../connections/origin-of.ts'
import { ANY_KEY, NO_KEY } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { isOfOwnPage, isSecureRequest, writeSessionCookie } from '../../session-cookie.ts'

interface SessionRouteOptions {
  readonly sessions: Sessions
  readonly guard: Pick<UnauthenticatedGuard, 'authenticateKey' | 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

const ApiKey = Type.String({ minLength: 1, maxLength: 200, description: 'An API key of the account.' })
const KeyBody = Type.Object(
  { api_key: ApiKey },
  { examples: [{ api_key: 'pk-dev-0123456789abcdef0123456789abcdef0123456789abcdef' }] },
)

const SignInBody = Type.Object(
  {
    api_key: Type.Optional(ApiKey),
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The code of a sign-in link instead of a key. It works once.',
      }),
    ),
  },
  { examples: [{ api_key: 'pk-dev-0123456789abcdef0123456789abcdef0123456789abcdef' }] },
)

export const SessionAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('session'),
    key_id: Type.String({ format: 'uuid', description: 'The key that the person signed in with.' }),
    user_id: orNull(Type.String(), 'The person. Null for a key of the account itself.'),
    project_id: orNull(
      Type.String(),
      'The project that the session continues in. Null: where the key works that it began with.',
    ),
    user_agent: Type.String({ description: 'The browser, as it named itself.' }),
    method: Type.String({
      description: 'How the person signed in: `key`, `link`, `invitation`, `directory` or `passkey`.',
    }),
    ip_address: orNull(Type.String(), 'The address that the person signed in from, where it is known.'),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    created_at: CreatedAt,
    last_used_at: Type.String({ format: 'date-time', description: 'Exact to the minute.' }),
    expires_at: Type.String({
      format: 'date-time',
      description: 'The end at the latest. A session also ends after 12 hours without a request.',
    }),
  },
  { title: 'Session' },
)

const ListSessionsQuery = Type.Object({
  mine: Type.Optional(
    Type.Boolean({
      description: 'Only sessions of the person or key that asks, also for whoever manages the account.',
    }),
  ),
})

export const EndedAnswer = Type.Object(
  {
    object: objectName('session.list.ended'),
    ended: Type.Integer({ description: 'How many sessions ended.' }),
  },
  { title: 'EndedSessions' },
)

const SessionParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a session, or `current`.' }),
})

/** A key or a code, in any spelling of JSON. */
const SIGN_IN_BYTES_MAX = 4 * 1024

/** Sessions of people who use the gateway in a browser: the key is entered once and is not kept there. */
export const sessionRoutes = (options: SessionRouteOptions): Route[] => {
  const { sessions } = options
  const shared = { tag: 'Sessions' } as const
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/sessions',
      summary: 'Sign in',
      access: NO_KEY,
      body: SignInBody,
      bodyLimitBytes: SIGN_IN_BYTES_MAX,
      otherErrors: [401, 403],
      responses: { 201: { description: 'The session. Its secret is in the cookie.', schema: SessionAnswer } },
      handle: async (request) => {
        refuseForeignPage(request, options)
        const session = await startSession(request, options)
        return answerWithSession(request, session, options)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/sessions',
      summary: 'List sessions',
      access: ANY_KEY,
      query: ListSessionsQuery,
      responses: {
        200: {
          description:
            'The sessions that have not ended: of the person over all their keys, or of the key; those of the whole account if the key ' +
            'can manage it. Newest first.',
          schema: listSchema('sessions', SessionAnswer),
        },
      },
      handle: async ({ caller, query }) => {
        const found = await sessions.list(caller, { onlyOwn: query.mine === true })
        return wholeList(
          'sessions',
          found.map((session) => sessionToWire(session, caller.session?.id)),
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/sessions/current/confirm',
      summary: 'Enter the key again',
      access: ANY_KEY,
      body: KeyBody,
      responses: { 200: { description: 'The session, confirmed for 15 minutes.', schema: SessionAnswer } },
      handle: async ({ caller, exchange, body }) => {
        requireSession(caller)
        const origin = originOf(exchange.incoming, options.guard)
        const session = await noting(sessions, { caller, origin }, async () =>
          sessions.confirm(caller, await options.guard.authenticateKey(exchange.incoming, body.api_key)),
        )
        return sessionToWire(session, caller.session?.id)
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/sessions',
      summary: 'Sign out everywhere else',
      access: ANY_KEY,
      responses: { 200: { description: 'The other sessions have ended.', schema: EndedAnswer } },
      handle: async ({ caller }) => ({
        object: 'session.list.ended',
        ended: await sessions.endOthers(caller),
      }),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/sessions/:id',
      summary: 'Sign out',
      access: ANY_KEY,
      params: SessionParams,
      responses: { 200: { description: 'The session that was ended.', schema: SessionAnswer } },
      handle: async (request) => {
        const { caller, params } = request
        const id = params.id === 'current' ? requireSession(caller) : params.id
        const ended = await sessions.end(caller, id)
        if (ended.id === caller.session?.id) setCookie(request, null, options)
        return sessionToWire(ended, caller.session?.id)
      },
    }),
  ]
}

/** Answers a request that began a session. The secret goes only into the cookie. */
export function answerWithSession(
  request: AnyRequest,
  session: Session & { readonly token: string },
  options: PageOptions,
): Static<typeof SessionAnswer> {
  setCookie(request, session.token, options)
  request.reply.code(201)
  return sessionToWire(session, session.id)
}

type PageOptions = Pick<SessionRouteOptions, 'publicUrl'>

type AnyRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'exchange' | 'reply'>

async function startSession(
  { exchange, body }: RouteRequest<Static<typeof SignInBody>, unknown, unknown>,
  { sessions, guard }: SessionRouteOptions,
): Promise<Session & { token: string }> {
  const { api_key: key, code } = body
  const browser = browserOf({ exchange }, guard)
  if (key !== undefined && code !== undefined)
    throw new AppError('invalid_request', 'Send `api_key` or `code`, not both.', { param: 'code' })
  if (key !== undefined)
    return noting(sessions, { key, origin: browser }, async () =>
      sessions.start(await guard.authenticateKey(exchange.incoming, key), browser),
    )
  if (code !== undefined)
    return noting(sessions, { code, origin: browser }, () =>
      guard.countSignIn(exchange.incoming, () => sessions.startWithCode(code, browser)),
    )
  throw new AppError('missing_required_parameter', '`api_key` or `code` is required.', { param: 'api_key' })
}

/** Notes in the audit log that a sign-in failed. */
async function noting<Result>(
  sessions: Pick<Sessions, 'noteFailed'>,
  attempt: Parameters<Sessions['noteFailed']>[0],
  signIn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await signIn()
  } catch (error) {
    await sessions.noteFailed(attempt, error)
    throw error
  }
}

/** Returns the browser as it names itself, within a limit, and where it is. */
export function browserOf(
  { exchange }: Pick<RouteRequest<unknown, unknown, unknown>, 'exchange'>,
  guard: Pick<UnauthenticatedGuard, 'addressOf'>,
): Browser {
  return originOf(exchange.incoming, guard)
}

/** A page of another site must not sign a person in under an account that is not theirs. */
export function refuseForeignPage({ exchange }: AnyRequest, { publicUrl }: PageOptions): void {
  const { headers } = exchange.incoming
  const isBrowser = headers['sec-fetch-site'] !== undefined || headers.origin !== undefined
  if (isBrowser && !isOfOwnPage(headers, publicUrl))
    throw new AppError('forbidden', 'Only a page of this gateway can sign in.')
}

function setCookie({ exchange, reply }: AnyRequest, token: string | null, { publicUrl }: PageOptions): void {
  const isSecure = isSecureRequest(exchange.incoming.headers, publicUrl)
  reply.header('set-cookie', writeSessionCookie(token, isSecure))
  reply.header('cache-control', 'no-store')
}

/** Returns the id of the session of the request. */
export function requireSession({ session }: Caller): string {
  if (session !== undefined) return session.id
  throw new AppError('invalid_request', 'This request has an API key and belongs to no session.')
}

export function sessionToWire(session: Session, currentId: string | undefined): Static<typeof SessionAnswer> {
  return {
    id: session.id,
    object: 'session',
    key_id: session.keyId,
    user_id: session.userId === null ? null : wireId('user', session.userId),
    project_id: session.projectId === null ? null : wireId('project', session.projectId),
    user_agent: session.userAgent,
    method: session.method,
    ip_address: session.ipAddress,
    is_current: session.id === currentId,
    created_at: toTimestamp(session.createdAtMs),
    last_used_at: toTimestamp(session.lastUsedAtMs),
    expires_at: toTimestamp(session.expiresAtMs),
  }
}
