import { Type } from 'typebox'
import type { People } from '../../../modules/people/people.ts'
import { nullable } from '../../../wires/nullable.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { NO_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from './api-key-wire.ts'
import { answerWithSession, refuseForeignPage, SessionAnswer, browserOf } from './sessions.ts'

interface AcceptInviteOptions {
  readonly people: People
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

const AcceptBody = Type.Object(
  {
    code: Type.String({ minLength: 1, maxLength: 200, description: 'The code of the link. It works once.' }),
    name: nullable(Name, 'What the person is called in this account.'),
  },
  {
    additionalProperties: false,
    examples: [{ code: 'Zx0_9mB3cQ7sTq1yWn5rKf8uHj2vLd4pEa6gIo-XbNM', name: 'Grace Hopper' }],
  },
)

/** A code and a name, in any spelling of JSON. */
const ACCEPT_BYTES_MAX = 8 * 1024

/** Only a POST accepts, because scanners of mail open every link. */
export const acceptInviteRoutes = (options: AcceptInviteOptions): Route[] => [
  defineRoute({
    tag: 'Sessions',
    method: 'POST',
    path: '/v1/invites/accept',
    summary: 'Accept an invitation',
    access: NO_KEY,
    body: AcceptBody,
    bodyLimitBytes: ACCEPT_BYTES_MAX,
    otherErrors: [401, 403, 409],
    responses: {
      201: {
        description: 'The session of the person in this account. Its secret is in the cookie.',
        schema: SessionAnswer,
      },
    },
    handle: async (request) => {
      refuseForeignPage(request, options)
      const { code, name = null } = request.body
      const browser = browserOf(request, options.guard)
      const { session } = await options.guard.countSignIn(request.exchange.incoming, () =>
        options.people.invites.accept({ code, name, browser }),
      )
      return answerWithSession(request, session, options)
    },
  }),
]
