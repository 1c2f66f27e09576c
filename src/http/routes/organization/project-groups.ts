import { Type, type Static } from 'typebox'
import type { Groups, ProjectGroup } from '../../../modules/groups/groups.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { GroupParams, GroupType } from './groups.ts'
import {
  orderedList,
  OrderedListQuery,
  orderedListOf,
  readOrderedPage,
  unixSeconds,
} from './organization-list.ts'
import { ownProject, pathId, ProjectParams } from './own-project.ts'
import { ProjectRole } from './project-users.ts'

const ProjectGroupAnswer = Type.Object(
  {
    object: objectName('project.group'),
    project_id: Type.String({ description: 'The id of the project.' }),
    group_id: Type.String({ description: 'The id of the group.' }),
    group_name: Type.String({ description: 'The name of the group.' }),
    group_type: GroupType,
    role: Type.String({ description: 'The role that the members of the group have in the project.' }),
    created_at: Type.Integer({ description: 'When the group was added to the project, in seconds.' }),
  },
  { title: 'ProjectGroup' },
)

const RemovedAnswer = Type.Object({
  object: objectName('project.group.deleted'),
  deleted: Type.Literal(true, { description: 'Whether the group is out of the project now.' }),
})

const AddBody = Type.Object(
  {
    group_id: Type.String({ maxLength: 100, description: 'The id of a group of the account: `group_…`.' }),
    role: ProjectRole,
  },
  {
    additionalProperties: false,
    examples: [{ group_id: 'group_01a1effe44cd71a0b8674dcb5b644572', role: 'member' }],
  },
)

const ProjectGroupParams = Type.Object({ ...ProjectParams.properties, ...GroupParams.properties })
const GroupQuery = Type.Object({
  group_type: Type.Optional(Type.Enum(['group'], { description: 'Only `group`.' })),
})

const shared = { tag: 'Organization' } as const
const AT = '/v1/organization/projects/:project_id/groups'

export const projectGroupRoutes = ({ groups: { projects } }: { groups: Groups }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inProject('organization.read'),
    summary: 'List the groups of a project',
    params: ProjectParams,
    query: OrderedListQuery,
    responses: {
      200: {
        description: 'The groups that have a role in the project.',
        schema: orderedList('ProjectGroupList', ProjectGroupAnswer),
      },
    },
    handle: async ({ caller, params, query }) => {
      const projectId = ownProject(caller, params.project_id)
      const page = await projects.list(caller.accountId, projectId, readOrderedPage('group', query))
      return orderedListOf(page, toWire, ({ id }) => wireId('group', id))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inProject('members.manage'),
    summary: 'Add a group to a project',
    params: ProjectParams,
    body: AddBody,
    responses: {
      200: {
        description: 'The group. Its members have the role in the project.',
        schema: ProjectGroupAnswer,
      },
    },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      return toWire(await projects.add(place, pathId('group', body.group_id), body.role))
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:group_id`,
    access: inProject('organization.read'),
    summary: 'Read a group of a project',
    params: ProjectGroupParams,
    query: GroupQuery,
    responses: { 200: { description: 'The group in the project.', schema: ProjectGroupAnswer } },
    handle: async ({ caller, params }) => {
      const projectId = ownProject(caller, params.project_id)
      return toWire(await projects.read(caller.accountId, projectId, pathId('group', params.group_id)))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:group_id`,
    access: inProject('members.manage'),
    summary: 'Remove a group from a project',
    params: ProjectGroupParams,
    responses: {
      200: {
        description: 'Its members have lost what they had in the project by the group, on every process.',
        schema: RemovedAnswer,
      },
    },
    handle: async ({ caller, params }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      await projects.remove(place, pathId('group', params.group_id))
      return { object: 'project.group.deleted', deleted: true }
    },
  }),
]

function toWire(group: ProjectGroup): Static<typeof ProjectGroupAnswer> {
  return {
    object: 'project.group',
    project_id: wireId('project', group.projectId),
    group_id: wireId('group', group.id),
    group_name: group.name,
    group_type: 'group',
    role: group.role,
    created_at: unixSeconds(group.addedAtMs),
  }
}
