import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Passkeys } from '../../../modules/passkeys/passkeys.ts'
import type { People } from '../../../modules/people/people.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { NO_KEY } from '../../access.ts'
import { readBrowserSecret } from '../../browser-cookie.ts'
import { requireRelyingParty } from '../../relying-party.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from './api-key-wire.ts'
import { CreationOptions, NewCredentialBody, PASSKEY_BYTES_MAX, PasskeyName } from './passkey-wire.ts'
import { visitorOf } from './passkey-sign-in.ts'
import { answerWithSession, refuseForeignPage, SessionAnswer, browserOf } from './sessions.ts'

interface AcceptInviteOptions {
  readonly people: Pick<People, 'entries'>
  readonly passkeys: Pick<Passkeys, 'startJoin' | 'join'>
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

const Code = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The code of the link. It works once.',
})
const CODE_EXAMPLE = 'Zx0_9mB3cQ7sTq1yWn5rKf8uHj2vLd4pEa6gIo-XbNM'

const CodeBody = Type.Object(
  { code: Code },
  { additionalProperties: false, examples: [{ code: CODE_EXAMPLE }] },
)

const AcceptBody = Type.Object(
  {
    code: Code,
    name: nullable(Name, 'What the person is called in this account.'),
    passkey: nullable(
      Type.Object({ name: PasskeyName, credential: NewCredentialBody }, { additionalProperties: false }),
      'A passkey to sign in with from now on. Its challenge is from `POST /v1/invites/passkey`.',
    ),
  },
  { additionalProperties: false, examples: [{ code: CODE_EXAMPLE, name: 'Grace Hopper' }] },
)

const LinkAnswer = Type.Object(
  {
    object: objectName('invite.link'),
    kind: Type.Enum(['invitation', 'recovery'], {
      description: '`invitation` joins an account, `recovery` lets a member in who has lost every way in.',
    }),
    account_name: Type.String({ description: 'The account that it leads to.' }),
    email: Type.String({ description: 'Whom it is for.' }),
    name: orNull(Type.String(), 'As the person is called in the account, if it knows them.'),
    expires_at: Type.String({ format: 'date-time', description: 'Until when it works.' }),
  },
  { title: 'InviteLink' },
)

const CODE_BYTES_MAX = 4 * 1024

const shared = { tag: 'Sessions', method: 'POST', access: NO_KEY } as const

/** Only a POST accepts, because scanners of mail open every link. */
export const acceptInviteRoutes = (options: AcceptInviteOptions): Route[] => {
  const { people, passkeys, guard, publicUrl } = options
  return [
    defineRoute({
      ...shared,
      path: '/v1/invites/read',
      summary: 'Read an invitation by its code',
      body: CodeBody,
      bodyLimitBytes: CODE_BYTES_MAX,
      otherErrors: [401, 403],
      responses: { 200: { description: 'Where the link leads. It is not used up.', schema: LinkAnswer } },
      handle: async (request) => {
        refuseForeignPage(request, options)
        const entry = await guard.countSignIn(request.exchange.incoming, () =>
          people.entries.read(request.body.code),
        )
        request.reply.header('cache-control', 'no-store')
        return {
          object: 'invite.link',
          kind: entry.kind,
          account_name: entry.accountName,
          email: entry.email,
          name: entry.name,
          expires_at: toTimestamp(entry.expiresAtMs),
        }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/invites/passkey',
      summary: 'Begin to make a passkey with an invitation',
      body: CodeBody,
      bodyLimitBytes: CODE_BYTES_MAX,
      otherErrors: [401, 403],
      responses: {
        200: { description: 'What the browser makes the passkey from.', schema: CreationOptions },
      },
      handle: async (request) => {
        refuseForeignPage(request, options)
        const relyingParty = requireRelyingParty(request.headers, publicUrl)
        const visitor = visitorOf(request, options)
        const publicKey = await guard.countSignIn(request.exchange.incoming, () =>
          passkeys.startJoin(visitor, request.body.code, relyingParty),
        )
        return { object: 'passkey.creation', public_key: publicKey }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/invites/accept',
      summary: 'Accept an invitation',
      body: AcceptBody,
      bodyLimitBytes: PASSKEY_BYTES_MAX,
      otherErrors: [401, 403, 409],
      responses: {
        201: {
          description: 'The session of the person in this account. Its secret is in the cookie.',
          schema: SessionAnswer,
        },
      },
      handle: async (request) => {
        refuseForeignPage(request, options)
        const { code, name = null, passkey = null } = request.body
        const { exchange, headers } = request
        const browser = browserOf(request, guard)
        const made = passkey && {
          ...passkey,
          relyingParty: requireRelyingParty(headers, publicUrl),
          browserSecret: readBrowserSecret(exchange.incoming.headers) ?? '',
        }
        const { session } = await guard.countSignIn(exchange.incoming, () =>
          passkeys.join({ code, name, browser, passkey: made }),
        )
        return answerWithSession(request, session, options)
      },
    }),
  ]
}
