import { Type, type Static } from 'typebox'
import { POLICY_METHODS, type Sessions, type SignInPolicy } from '../../../modules/sessions/sessions.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const Methods = Type.Array(Type.Enum([...POLICY_METHODS]), {
  minItems: 1,
  maxItems: POLICY_METHODS.length,
  uniqueItems: true,
  description:
    'How sessions begin: `directory` (a provider of the company), `passkey` (with links of invitations and for recovery, which lead to one), `key` (an API key in the console).',
})

const PolicyAnswer = Type.Object(
  {
    object: objectName('organization.sign_in_policy'),
    methods: Methods,
    locked_out_members: Type.Integer({
      description: 'How many active members can sign in by none of these ways at the moment.',
    }),
  },
  { title: 'SignInPolicy' },
)

const PolicyBody = Type.Object(
  {
    methods: Methods,
    even_if_locked_out: Type.Optional(
      Type.Boolean({ description: 'Whether to set it although no owner could sign in any more.' }),
    ),
  },
  { additionalProperties: false, examples: [{ methods: ['directory', 'passkey', 'key'] }] },
)

const shared = { tag: 'Organization', path: '/v1/organization/sign_in_policy' } as const

/** In which ways people sign in to an account. */
export const signInPolicyRoutes = ({
  sessions,
}: {
  readonly sessions: Pick<Sessions, 'readPolicy' | 'setPolicy'>
}): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    access: inAccount('organization.read'),
    summary: 'Read how people sign in to the account',
    responses: { 200: { description: 'The ways that count.', schema: PolicyAnswer } },
    handle: async ({ caller }) => policyToWire(await sessions.readPolicy(caller.accountId)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    access: inAccount('members.manage'),
    needsConfirmation: true,
    summary: 'Set how people sign in to the account',
    body: PolicyBody,
    otherErrors: [409],
    responses: {
      200: {
        description: 'The ways that count from now on. Sessions that began otherwise have ended.',
        schema: PolicyAnswer,
      },
    },
    handle: async ({ caller, body }) => {
      const evenIfLockedOut = body.even_if_locked_out === true
      return policyToWire(await sessions.setPolicy(caller, { methods: body.methods, evenIfLockedOut }))
    },
  }),
]

function policyToWire({ methods, lockedOutMembers }: SignInPolicy): Static<typeof PolicyAnswer> {
  return {
    object: 'organization.sign_in_policy',
    methods: [...methods],
    locked_out_members: lockedOutMembers,
  }
}
