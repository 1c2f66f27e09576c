import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { People } from '../../../modules/people/people.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const UserParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a person: `user-…`.' }),
})

const UserAnswer = Type.Object(
  {
    id: Id,
    object: objectName('user'),
    email: Type.String({ description: 'The e-mail address of the person.' }),
    status: Type.Enum(['active', 'deactivated'], { description: 'The state it is in.' }),
  },
  { title: 'User' },
)

const shared = { tag: 'Operator' } as const

export const adminUserRoutes = ({ people, audit }: { people: People; audit: Audit }): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/users/:id/deactivate',
    access: ofGateway('gateway.manage'),
    summary: 'Deactivate a person',
    params: UserParams,
    responses: {
      200: {
        description: 'Every process refuses the keys and sessions of the person in all accounts.',
        schema: UserAnswer,
      },
    },
    handle: async ({ caller, params }) => {
      const id = userIdOf(params.id)
      return userToWire(
        await audit.run({ actor: caller, action: 'user.deactivate', target: { kind: 'user', id } }, () =>
          people.deactivate(caller, id),
        ),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/users/:id/activate',
    access: ofGateway('gateway.manage'),
    summary: 'Activate a deactivated person',
    params: UserParams,
    responses: {
      200: {
        description: 'The keys of the person work again. Sessions do not come back.',
        schema: UserAnswer,
      },
    },
    handle: async ({ caller, params }) => {
      const id = userIdOf(params.id)
      return userToWire(
        await audit.run({ actor: caller, action: 'user.activate', target: { kind: 'user', id } }, () =>
          people.activate(caller, id),
        ),
      )
    },
  }),
]

function userIdOf(text: string): string {
  const id = parseWireId('user', text)
  if (id === null) throw notFound('user')
  return id
}

function userToWire({
  id,
  email,
  isActive,
}: Awaited<ReturnType<People['activate']>>): Static<typeof UserAnswer> {
  return { id: wireId('user', id), object: 'user', email, status: isActive ? 'active' : 'deactivated' }
}
