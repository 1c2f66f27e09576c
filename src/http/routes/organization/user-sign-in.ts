import { Type } from 'typebox'
import type { People } from '../../../modules/people/people.ts'
import { orNull } from '../../../wires/nullable.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { EndedAnswer } from '../account/sessions.ts'
import { DeliveredLink, Delivery, type DeliverLink } from './deliver-link.ts'
import { unixSeconds } from './organization-list.ts'
import { pathId } from './own-project.ts'
import { UserParams } from './users.ts'

const RecoveryBody = Type.Object(
  {
    end_passkeys: Type.Optional(
      Type.Boolean({
        description:
          'Whether the passkeys, sessions and signed-in tools of the person end when the link is used, as after a theft. Default: false.',
      }),
    ),
    delivery: Delivery,
  },
  { additionalProperties: false, examples: [{ end_passkeys: true }] },
)

const RecoveryAnswer = Type.Object(
  {
    object: objectName('organization.user.recovery_link'),
    id: Id,
    email: Type.String({ description: 'The e-mail address of the person.' }),
    end_passkeys: Type.Boolean({
      description: 'Whether using the link ends the passkeys, sessions and signed-in tools of before.',
    }),
    expires_at: Type.Integer({ description: 'In seconds. The link works until then.' }),
    ...DeliveredLink,
    code: orNull(Type.String(), 'What the link has in it. Null if it was mailed.'),
  },
  { title: 'RecoveryLink' },
)

const shared = { tag: 'Organization', access: inAccount('members.manage'), params: UserParams } as const

/** What whoever manages the members does for somebody who lost a device. */
export const userSignInRoutes = ({
  people,
  deliverLink,
}: {
  people: Pick<People, 'recovery' | 'endSessions'>
  deliverLink: DeliverLink
}): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/users/:user_id/recovery_link',
    summary: 'Make a link that lets a member in again',
    needsConfirmation: true,
    body: RecoveryBody,
    otherErrors: [409],
    responses: {
      200: {
        description: 'The link, shown this once. It replaces an earlier one of the person.',
        schema: RecoveryAnswer,
      },
    },
    handle: async ({ caller, params, body, headers }) => {
      const userId = pathId('user', params.user_id)
      const endsPasskeys = body.end_passkeys === true
      const { member, code, expiresAtMs } = await people.recovery.create(caller, userId, { endsPasskeys })
      const link = {
        accountId: caller.accountId,
        to: member.email,
        kind: 'recovery',
        code,
        expiresAtMs,
      } as const
      return {
        object: 'organization.user.recovery_link',
        id: params.user_id,
        email: member.email,
        end_passkeys: endsPasskeys,
        expires_at: unixSeconds(expiresAtMs),
        ...(await deliverLink(link, { headers, delivery: body.delivery })),
      }
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/users/:user_id/end_sessions',
    summary: 'Sign a member out everywhere',
    responses: { 200: { description: 'The sessions of the person have ended.', schema: EndedAnswer } },
    handle: async ({ caller, params }) => ({
      object: 'session.list.ended',
      ended: await people.endSessions(caller, pathId('user', params.user_id)),
    }),
  }),
]
