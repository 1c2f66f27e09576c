import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { ACCOUNT_ROLES, type AccountMember, type People } from '../../../modules/people/people.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { listFilter, readFilter } from './list-filter.ts'
import { pathId } from './own-project.ts'

export const AccountRole = Type.Enum([...ACCOUNT_ROLES], {
  description:
    '`owner` manages everything, `billing` the money, `auditor` reads, `reader` sees only its own projects.',
})

const PersonName = orNull(Type.String(), 'As the person is called in this account.')
const Email = Type.String({ description: 'The e-mail address of the person.' })
const Never = (what: string) => Type.Literal(false, { description: `Always false: ${what}` })
const Absent = (what: string) => Type.Null({ description: `Always null: ${what}` })

export const UserAnswer = Type.Object(
  {
    object: objectName('organization.user'),
    id: Id,
    name: PersonName,
    email: Email,
    role: Type.String({ description: 'The role in the account.' }),
    added_at: Type.Integer({ description: 'When the person joined the account, in seconds.' }),
    created: Type.Integer({ description: 'The same as `added_at`.' }),
    is_default: Never('no account is the default of a person.'),
    is_service_account: Never('service accounts belong to projects.'),
    is_scale_tier_authorized_purchaser: Never('there are no tiers to buy.'),
    is_scim_managed: Type.Boolean({ description: 'Whether a directory manages the person by SCIM.' }),
    api_key_last_used_at: orNull(Type.Integer(), 'When a key of the person was last used here, in seconds.'),
    technical_level: Absent('it is not asked for.'),
    developer_persona: Absent('it is not asked for.'),
    user: Type.Object(
      {
        object: objectName('user'),
        id: Id,
        email: Email,
        name: PersonName,
        picture: Absent('there are no pictures.'),
        enabled: Type.Boolean({ description: 'False while the person is deactivated.' }),
        banned: Type.Boolean({ description: 'The reverse of `enabled`.' }),
        banned_at: Absent('it is in the audit log.'),
      },
      { description: 'The person.' },
    ),
    projects: Type.Object(
      {
        object: objectName('list'),
        data: Type.Array(
          Type.Object({
            id: Id,
            name: Type.String({ description: 'The name of the project.' }),
            role: Type.String({ description: 'The role in the project.' }),
          }),
          { description: 'At most the first hundred.' },
        ),
      },
      { description: 'The projects that the person was added to.' },
    ),
  },
  { title: 'OrganizationUser' },
)

const UnsupportedText = nullable(Type.String({ maxLength: 200 }), 'Only null: it would not be honoured here.')
const ChangeBody = Type.Object(
  {
    role: nullable(AccountRole, 'The new role.'),
    role_id: UnsupportedText,
    technical_level: UnsupportedText,
    developer_persona: UnsupportedText,
  },
  { additionalProperties: false, examples: [{ role: 'owner' }] },
)

const EmailFilter = listFilter(Type.String({ maxLength: 320 }), 'Only people with these e-mail addresses.')
const UsersQuery = Type.Object({
  ...OrganizationListQuery.properties,
  emails: EmailFilter,
  'emails[]': EmailFilter,
})

export const UserParams = Type.Object({
  user_id: Type.String({ maxLength: 100, description: 'The id of a person: `user-…`.' }),
})

const shared = { tag: 'Organization' } as const

export const organizationUserRoutes = ({ people }: { people: People }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/users',
    access: inAccount('organization.read'),
    summary: 'List users',
    query: UsersQuery,
    responses: {
      200: {
        description: 'The members of the account, the most recent people first.',
        schema: organizationList('OrganizationUserList', UserAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const emails = readFilter(query.emails, query['emails[]'])
      const page = await people.list(caller.accountId, readPage('user', query), { emails })
      return listOf(page, userToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/users/:user_id',
    access: inAccount('organization.read'),
    summary: 'Read a user',
    params: UserParams,
    responses: { 200: { description: 'The member of the account.', schema: UserAnswer } },
    handle: async ({ caller, params }) =>
      userToWire(await people.read(caller.accountId, pathId('user', params.user_id))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/users/:user_id',
    access: inAccount('members.manage'),
    summary: 'Change the role of a user',
    params: UserParams,
    body: ChangeBody,
    responses: { 200: { description: 'The member with the new role.', schema: UserAnswer } },
    handle: async ({ caller, params, body }) => {
      const { accountId } = caller
      refuseUnsupported(body)
      const id = pathId('user', params.user_id)
      const role = body.role ?? null
      return userToWire(
        role === null ? await people.read(accountId, id) : await people.changeRole(caller, id, role),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/v1/organization/users/:user_id',
    access: inAccount('members.manage'),
    summary: 'Remove a user',
    params: UserParams,
    responses: {
      200: {
        description: 'Every process refuses the keys and sessions of the person in this account from now on.',
        schema: deletedAnswer('organization.user.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = pathId('user', params.user_id)
      await people.remove(caller, id)
      return { object: 'organization.user.deleted', id: wireId('user', id), deleted: true }
    },
  }),
]

function refuseUnsupported(body: Static<typeof ChangeBody>): void {
  for (const param of ['role_id', 'technical_level', 'developer_persona'] as const) {
    if (typeof body[param] !== 'string') continue
    throw new AppError('unsupported_parameter', `'${param}' would not be honoured here.`, { param })
  }
}

export function userToWire(member: AccountMember): Static<typeof UserAnswer> {
  const { name, email, isActive, lastUsedAtMs } = member
  const id = wireId('user', member.id)
  const addedAt = unixSeconds(member.addedAtMs)
  return {
    object: 'organization.user',
    id,
    name,
    email,
    role: member.role,
    added_at: addedAt,
    created: addedAt,
    is_default: false,
    is_service_account: false,
    is_scale_tier_authorized_purchaser: false,
    is_scim_managed: member.isScimManaged,
    api_key_last_used_at: lastUsedAtMs === null ? null : unixSeconds(lastUsedAtMs),
    technical_level: null,
    developer_persona: null,
    user: {
      object: 'user',
      id,
      email,
      name,
      picture: null,
      enabled: isActive,
      banned: !isActive,
      banned_at: null,
    },
    projects: {
      object: 'list',
      data: member.projects.map((project) => ({ ...project, id: wireId('project', project.id) })),
    },
  }
}
