import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Grant, Grants } from '../../../modules/grants/grants.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, Id, objectName } from '../../../wires/usual-members.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const GrantAnswer = Type.Object(
  {
    id: Id,
    object: objectName('grant'),
    client_id: Type.String({ description: 'What the tool calls itself. Nothing proves it.' }),
    user: Type.Object(
      {
        id: Id,
        email: Type.String({ description: 'The e-mail address.' }),
        name: orNull(Type.String(), 'As the person is called in this account.'),
      },
      { description: 'Whom the tool works for.' },
    ),
    project: orNull(
      Type.Object({ id: Id, name: Type.String({ description: 'The name of the project.' }) }),
      'Where the tool works. Null: in the whole account.',
    ),
    key_id: Type.String({
      format: 'uuid',
      description: 'By which usage and the audit log know its requests.',
    }),
    ip_address: orNull(Type.String(), 'The address that the tool was signed in from.'),
    user_agent: Type.String({ description: 'The program, as it named itself.' }),
    is_current: Type.Boolean({ description: 'Whether it is the tool of this request.' }),
    created_at: CreatedAt,
    last_used_at: Type.String({ format: 'date-time', description: 'When it last got an access token.' }),
    expires_at: Type.String({
      format: 'date-time',
      description: 'The end at the latest. A tool is also signed out after 30 days without use.',
    }),
  },
  { title: 'Grant' },
)

const ListQuery = Type.Object({
  own: Type.Optional(Type.Boolean({ description: 'Only those of the person who asks.' })),
})
const GrantParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a signed-in tool: `grant_…`.' }),
})

/** The tools that people signed in. */
export const grantRoutes = ({ grants }: { grants: Pick<Grants, 'list' | 'end'> }): Route[] => [
  defineRoute({
    tag: 'Signed-in tools',
    method: 'GET',
    path: '/v1/grants',
    summary: 'List signed-in tools',
    access: ANY_KEY,
    query: ListQuery,
    responses: {
      200: {
        description: 'Those of the person, and of everybody if the key can manage keys. Newest first.',
        schema: listSchema('grants', GrantAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const found = await grants.list(caller, { isOwn: query.own === true })
      return wholeList(
        'grants',
        found.map((grant) => grantToWire(grant, caller.accessToken?.grantId)),
      )
    },
  }),
  defineRoute({
    tag: 'Signed-in tools',
    method: 'DELETE',
    path: '/v1/grants/:id',
    summary: 'Sign a tool out',
    access: ANY_KEY,
    params: GrantParams,
    responses: { 200: { description: 'The tool that was signed out.', schema: GrantAnswer } },
    handle: async ({ caller, params }) => {
      const id = parseWireId('grant', params.id)
      if (id === null) throw notFound('signed-in tool')
      return grantToWire(await grants.end(caller, id), caller.accessToken?.grantId)
    },
  }),
]

function grantToWire(grant: Grant, currentId: string | null | undefined): Static<typeof GrantAnswer> {
  const { user, project } = grant
  return {
    id: wireId('grant', grant.id),
    object: 'grant',
    client_id: grant.clientId,
    user: { ...user, id: wireId('user', user.id) },
    project: project && { ...project, id: wireId('project', project.id) },
    key_id: grant.keyId,
    ip_address: grant.ipAddress,
    user_agent: grant.userAgent,
    is_current: grant.id === currentId,
    created_at: toTimestamp(grant.createdAtMs),
    last_used_at: toTimestamp(grant.lastUsedAtMs),
    expires_at: toTimestamp(grant.expiresAtMs),
  }
}
