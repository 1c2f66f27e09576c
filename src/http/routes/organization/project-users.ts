import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { PROJECT_ROLES, type ProjectMember, type Projects } from '../../../modules/projects/projects.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { ownProject, pathId, ProjectParams } from './own-project.ts'

export const ProjectRole = Type.Enum([...PROJECT_ROLES], {
  description: '`owner` manages the project, `member` uses models, `viewer` only looks.',
})

const ProjectUserAnswer = Type.Object(
  {
    object: objectName('organization.project.user'),
    id: Id,
    name: orNull(Type.String(), 'As the person is called in this account.'),
    email: Type.String({ description: 'The e-mail address of the person.' }),
    role: Type.String({ description: 'The role in the project.' }),
    added_at: Type.Integer({ description: 'In seconds.' }),
  },
  { title: 'ProjectUser' },
)

const AddBody = Type.Object(
  {
    user_id: nullable(Type.String({ maxLength: 100 }), 'The id of a member of the account: `user-…`.'),
    email: nullable(Type.String({ maxLength: 320 }), 'The e-mail address of a member, instead of the id.'),
    role: ProjectRole,
  },
  { additionalProperties: false, examples: [{ email: 'grace@example.com', role: 'member' }] },
)

const ChangeBody = Type.Object(
  { role: nullable(ProjectRole, 'The new role.') },
  { additionalProperties: false, examples: [{ role: 'owner' }] },
)

const UserParams = Type.Object({
  ...ProjectParams.properties,
  user_id: Type.String({ maxLength: 100, description: 'The id of a person: `user-…`.' }),
})

const shared = { tag: 'Organization' } as const

export const projectUserRoutes = ({ projects: { members } }: { projects: Projects }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/projects/:project_id/users',
    access: inProject('organization.read'),
    summary: 'List the users of a project',
    params: ProjectParams,
    query: OrganizationListQuery,
    responses: {
      200: {
        description: 'The people in the project, the most recent ones first.',
        schema: organizationList('ProjectUserList', ProjectUserAnswer),
      },
    },
    handle: async ({ caller, params, query }) => {
      const projectId = ownProject(caller, params.project_id)
      return listOf(await members.list(caller.accountId, projectId, readPage('user', query)), memberToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/projects/:project_id/users',
    access: inProject('members.manage'),
    summary: 'Add a user to a project',
    params: ProjectParams,
    body: AddBody,
    responses: { 200: { description: 'The person in the project.', schema: ProjectUserAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      return memberToWire(await members.add(place, readPerson(body), body.role))
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/projects/:project_id/users/:user_id',
    access: inProject('organization.read'),
    summary: 'Read a user of a project',
    params: UserParams,
    responses: { 200: { description: 'The person in the project.', schema: ProjectUserAnswer } },
    handle: async ({ caller, params }) => {
      const projectId = ownProject(caller, params.project_id)
      return memberToWire(await members.read(caller.accountId, projectId, pathId('user', params.user_id)))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/projects/:project_id/users/:user_id',
    access: inProject('members.manage'),
    summary: 'Change the role of a user in a project',
    params: UserParams,
    body: ChangeBody,
    responses: { 200: { description: 'The person with the new role.', schema: ProjectUserAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const userId = pathId('user', params.user_id)
      const role = body.role ?? null
      return memberToWire(
        role === null
          ? await members.read(caller.accountId, place.projectId, userId)
          : await members.changeRole(place, userId, role),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/v1/organization/projects/:project_id/users/:user_id',
    access: inProject('members.manage'),
    summary: 'Remove a user from a project',
    params: UserParams,
    responses: {
      200: {
        description: "Every process refuses the person's keys in this project from now on.",
        schema: deletedAnswer('organization.project.user.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const userId = pathId('user', params.user_id)
      await members.remove({ caller, projectId: ownProject(caller, params.project_id) }, userId)
      return { object: 'organization.project.user.deleted', id: wireId('user', userId), deleted: true }
    },
  }),
]

function readPerson({ user_id: userId, email }: Static<typeof AddBody>) {
  if (typeof userId === 'string') return { userId: pathId('user', userId) }
  if (typeof email === 'string') return { email }
  throw new AppError('missing_required_parameter', '`user_id` or `email` is required.', { param: 'user_id' })
}

function memberToWire(member: ProjectMember): Static<typeof ProjectUserAnswer> {
  return {
    object: 'organization.project.user',
    id: wireId('user', member.id),
    name: member.name,
    email: member.email,
    role: member.role,
    added_at: unixSeconds(member.addedAtMs),
  }
}
