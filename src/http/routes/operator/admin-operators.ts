import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { OPERATOR_ROLES, type Operator, type People } from '../../../modules/people/people.ts'
import { CreatedAt, Id, objectName } from '../../../wires/usual-members.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { notFound } from '../../../kernel/app-error.ts'
import { wholeList, listSchema } from '../../answers/list-page.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const Role = Type.Enum([...OPERATOR_ROLES], {
  description:
    '`operator` operates the gateway, `operator-reader` sees what operators see and changes nothing.',
})
const OperatorAnswer = Type.Object(
  {
    object: objectName('operator'),
    id: Id,
    email: Type.String({ description: 'The e-mail address of the person.' }),
    role: Type.String({ description: '`operator` or `operator-reader`.' }),
    created_at: CreatedAt,
  },
  { title: 'Operator' },
)
const NameBody = Type.Object(
  {
    user_id: Type.String({ maxLength: 100, description: 'The id of a member of the account: `user-…`.' }),
    role: Role,
  },
  {
    additionalProperties: false,
    examples: [{ user_id: 'user-01a1effe44cd71a0b8674dcb5b644571', role: 'operator-reader' }],
  },
)
const OperatorParams = Type.Object({
  user_id: Type.String({ maxLength: 100, description: 'The id of a person: `user-…`.' }),
})
const RemovedAnswer = Type.Object({
  object: objectName('operator.deleted'),
  id: Id,
  deleted: Type.Literal(true, { description: 'Whether the person operates the gateway no more.' }),
})

/** Operators name other operators among the members of their own account. */
export const adminOperatorRoutes = ({ people, audit }: { people: People; audit: Audit }): Route[] => [
  defineRoute({
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    method: 'GET',
    path: '/v1/admin/operators',
    summary: 'List operators',
    responses: {
      200: {
        description: 'The people of the account who operate the gateway.',
        schema: listSchema('operators', OperatorAnswer),
      },
    },
    handle: async ({ caller }) =>
      wholeList('operators', (await people.operators.list(caller)).map(operatorToWire)),
  }),
  defineRoute({
    tag: 'Operator',
    access: ofGateway('gateway.manage'),
    needsConfirmation: true,
    method: 'POST',
    path: '/v1/admin/operators',
    summary: 'Name an operator',
    body: NameBody,
    otherErrors: [404],
    responses: { 200: { description: 'The person with the role.', schema: OperatorAnswer } },
    handle: async ({ caller, body }) => {
      const userId = userIdOf(body.user_id)
      const entry = {
        actor: caller,
        action: 'operator.name',
        target: { kind: 'user', id: userId },
        details: { role: body.role },
        readState: () => readRole(people, caller, userId),
      } as const
      return operatorToWire(await audit.run(entry, () => people.operators.name(caller, userId, body.role)))
    },
  }),
  defineRoute({
    tag: 'Operator',
    access: ofGateway('gateway.manage'),
    method: 'DELETE',
    path: '/v1/admin/operators/:user_id',
    summary: 'Remove an operator',
    params: OperatorParams,
    responses: {
      200: { description: 'The person keeps what they have in the account.', schema: RemovedAnswer },
    },
    handle: async ({ caller, params }) => {
      const userId = userIdOf(params.user_id)
      const entry = {
        actor: caller,
        action: 'operator.remove',
        target: { kind: 'user', id: userId },
        details: {},
        readState: () => readRole(people, caller, userId),
      } as const
      await audit.run(entry, async () => {
        await people.operators.remove(caller, userId)
        return { id: userId }
      })
      return { object: 'operator.deleted', id: wireId('user', userId), deleted: true }
    },
  }),
]

async function readRole(people: Pick<People, 'operators'>, caller: Caller, userId: string) {
  const operators = await people.operators.list(caller)
  return { role: operators.find(({ id }) => id === userId)?.role ?? null }
}

function userIdOf(text: string): string {
  const id = parseWireId('user', text)
  if (id === null) throw notFound('user')
  return id
}

function operatorToWire({ id, email, role, addedAtMs }: Operator): Static<typeof OperatorAnswer> {
  return { object: 'operator', id: wireId('user', id), email, role, created_at: toTimestamp(addedAtMs) }
}
