import { Type } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { SignInProblem, slotOf, type Directory } from '../../../modules/directory/directory.ts'
import type { Sessions } from '../../../modules/sessions/sessions.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { NO_KEY } from '../../access.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { originOf } from '../../parameters/origin-of.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { isOfOwnPage, isSecureRequest, readSessionCookie, writeSessionCookie } from '../../session-cookie.ts'
import { readSignInCookie, writeSignInCookie } from '../../sign-in-cookie.ts'
import { browserOf } from './sessions.ts'

interface DirectorySignInOptions {
  readonly directory: Directory
  readonly sessions: Pick<Sessions, 'authenticate'>
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

const CALLBACK_PATH = '/v1/sessions/directory/callback'

const Params = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of an identity provider.' }),
})

const StartQuery = Type.Object({
  return_to: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'The path of the console to go to afterwards. Anything else leads to its first page.',
    }),
  ),
  account: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The account to enter: `org-…`. Absent: the one that the person used last.',
    }),
  ),
  confirm: Type.Optional(
    Type.Literal('1', {
      description: 'Signs in again to confirm the session of the browser, for what needs a confirmation.',
    }),
  ),
  link: Type.Optional(
    Type.Literal('1', {
      description:
        'Signs in to link this sign-in to the person of the session. The browser ends at `/profile?link=` with the `ticket` for `POST /v1/identities`.',
    }),
  ),
})

const PART_LENGTH_MAX = 4000
const CallbackQuery = Type.Object({
  state: Type.Optional(
    Type.String({ maxLength: 200, description: 'The state that the sign-in began with.' }),
  ),
  code: Type.Optional(Type.String({ maxLength: PART_LENGTH_MAX, description: 'The code of the provider.' })),
  iss: Type.Optional(Type.String({ maxLength: PART_LENGTH_MAX, description: 'The issuer of the answer.' })),
  error: Type.Optional(
    Type.String({ maxLength: PART_LENGTH_MAX, description: 'Why the provider refused, as it names it.' }),
  ),
})

const ONWARD = { description: 'The browser goes on to the address in `location`.' }

/** Browsers are sent to a provider of the company and come back. */
export const directorySignInRoutes = (options: DirectorySignInOptions): Route[] => [
  defineRoute({
    tag: 'Sessions',
    method: 'GET',
    path: '/v1/sessions/directory/:id/start',
    summary: 'Begin a sign-in with an identity provider',
    access: NO_KEY,
    params: Params,
    query: StartQuery,
    otherErrors: [404],
    responses: { 302: ONWARD },
    handle: (request) => leadOn(request, () => begin(request, options)),
  }),
  defineRoute({
    tag: 'Sessions',
    method: 'GET',
    path: CALLBACK_PATH,
    summary: 'Where an identity provider sends people back to',
    access: NO_KEY,
    query: CallbackQuery,
    responses: { 302: ONWARD },
    handle: (request) => leadOn(request, () => finish(request, options)),
  }),
]

type AnyRequest = RouteRequest<unknown, unknown, unknown>

/** Sends the browser on. What people may read of a failure is told by the sign-in page. */
async function leadOn({ reply }: AnyRequest, work: () => Promise<string>): Promise<void> {
  const location = await work().catch((error: unknown) => {
    if (error instanceof SignInProblem) return problemPath(error.reason)
    if (error instanceof AppError && error.code === 'rate_limit_exceeded') return problemPath('too_many')
    throw error
  })
  reply
    .code(302)
    .header('location', location)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .send()
}

function problemPath(reason: SignInProblem['reason']): string {
  return `/sign-in?problem=${reason}`
}

async function begin(
  request: RouteRequest<
    unknown,
    { return_to?: string; account?: string; confirm?: '1'; link?: '1' },
    { id: string }
  >,
  { directory, sessions, guard, publicUrl }: DirectorySignInOptions,
): Promise<string> {
  const { params, query, exchange, reply } = request
  const { confirm, link } = query
  const session =
    confirm === undefined && link === undefined
      ? null
      : await findSession(exchange.incoming.headers, sessions, publicUrl)
  const account = query.account === undefined ? null : parseWireId('organization', query.account)
  if (query.account !== undefined && account === null) throw new SignInProblem('no_account')
  const isSecure = isSecureRequest(exchange.incoming.headers, publicUrl)
  const begun = await directory.begin({
    providerId: params.id,
    returnTo: query.return_to,
    redirectUri: originOf(request, publicUrl) + CALLBACK_PATH,
    accountId: account,
    confirms: link === undefined ? session : null,
    links: link === undefined ? null : session,
    browser: browserOf(request, guard),
  })
  reply.header('set-cookie', writeSignInCookie(begun.slot, begun.sealed, isSecure))
  return begun.url
}

/** Returns the session of this browser, for a request of a page of this gateway. */
async function findSession(
  headers: AnyRequest['exchange']['incoming']['headers'],
  sessions: DirectorySignInOptions['sessions'],
  publicUrl: string | null,
) {
  const token = isOfOwnPage(headers, publicUrl) ? readSessionCookie(headers) : null
  if (token === null) throw new SignInProblem('session_ended')
  const { session, accountId, userId } = await sessions.authenticate(token).catch((error: unknown) => {
    throw error instanceof AppError ? new SignInProblem('session_ended', { cause: error }) : error
  })
  // Nobody confirms a session of a key of the account itself with who they are.
  if (session === undefined || userId === null || userId === undefined)
    throw new SignInProblem('other_person')
  return { sessionId: session.id, accountId, userId }
}

async function finish(
  request: RouteRequest<unknown, { state?: string }, unknown>,
  { directory, guard, publicUrl }: DirectorySignInOptions,
): Promise<string> {
  const { exchange, reply, query } = request
  const { incoming } = exchange
  const isSecure = isSecureRequest(incoming.headers, publicUrl)
  const slot = slotOf(query.state ?? '')
  const sealed = readSignInCookie(incoming.headers, slot)
  // Whatever comes of it: a sign-in is finished once.
  const cookies = sealed === null ? [] : [writeSignInCookie(slot, null, isSecure)]
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  const { returnPath, session } = await guard.countSignIn(incoming, () =>
    directory.finish({
      query: new URLSearchParams((incoming.url ?? '').split('?').slice(1).join('?')),
      sealed,
      browser: browserOf(request, guard),
    }),
  )
  if (session !== null) reply.header('set-cookie', [...cookies, writeSessionCookie(session.token, isSecure)])
  return returnPath
}
