import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import type { Project, Projects } from '../../../modules/projects/projects.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from '../account/api-key-wire.ts'
import { parseTagSettings, tagSettings, tagSettingsToWire } from '../account/tag-settings-wire.ts'
import {
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { ownProject, ProjectParams } from './own-project.ts'

const ProjectAnswer = Type.Object(
  {
    id: Id,
    object: objectName('organization.project'),
    name: Type.String({ description: 'The name that people gave it.' }),
    created_at: Type.Integer({ description: 'In seconds.' }),
    archived_at: orNull(Type.Integer(), 'In seconds. Null while it is active.'),
    status: Type.Enum(['active', 'archived'], {
      description: 'The keys of an archived project are refused.',
    }),
    external_key_id: Type.Null({ description: 'Always null: there are no external keys here.' }),
    residency: Type.Literal('GLOBAL', { description: 'Data stays where the operator runs the gateway.' }),
    ...tagSettings,
  },
  { title: 'Project' },
)

// Unknown members are refused, so that a misspelt restriction is not ignored.
const CLOSED = { additionalProperties: false }

const UnsupportedText = (what: string) => nullable(Type.String({ maxLength: 200 }), `Only null: ${what}`)
const placement = {
  external_key_id: UnsupportedText('there are no external keys here.'),
  geography: UnsupportedText('data stays where the operator runs the gateway.'),
}

const CreateBody = Type.Object(
  {
    name: described(Name, 'A name for people, without control characters.'),
    residency: nullable(
      Type.String({ maxLength: 64 }),
      'Only `GLOBAL`: data stays where the operator runs the gateway.',
    ),
    ...placement,
    ...tagSettings,
  },
  { ...CLOSED, examples: [{ name: 'Search' }] },
)

const ChangeBody = Type.Object(
  { name: nullable(Name, 'The new name.'), ...placement, ...tagSettings },
  { ...CLOSED, examples: [{ name: 'Search and browse' }] },
)

const ProjectsQuery = Type.Object({
  ...OrganizationListQuery.properties,
  include_archived: Type.Optional(Type.Boolean({ description: 'Also lists archived projects.' })),
})

const shared = { tag: 'Organization' } as const

export const organizationProjectRoutes = ({ projects }: { projects: Projects }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/projects',
    access: inAccount('organization.read'),
    summary: 'List projects',
    query: ProjectsQuery,
    responses: {
      200: {
        description: 'The projects, newest first.',
        schema: organizationList('ProjectList', ProjectAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const filter = { includeArchived: query.include_archived ?? false }
      const page = await projects.list(caller.accountId, readPage('project', query), filter)
      return listOf(page, projectToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/projects',
    access: inAccount('projects.manage'),
    summary: 'Create a project',
    body: CreateBody,
    responses: { 200: { description: 'The project.', schema: ProjectAnswer } },
    handle: async ({ caller, body }) => {
      refusePlacement(body)
      return projectToWire(await projects.create(caller, { name: body.name, ...parseTagSettings(body) }))
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/projects/:project_id',
    access: inProject('organization.read'),
    summary: 'Read a project',
    params: ProjectParams,
    responses: { 200: { description: 'The project.', schema: ProjectAnswer } },
    handle: async ({ caller, params }) =>
      projectToWire(await projects.read(caller.accountId, ownProject(caller, params.project_id))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/projects/:project_id',
    access: inProject('projects.manage'),
    summary: 'Change a project',
    params: ProjectParams,
    body: ChangeBody,
    responses: { 200: { description: 'The project as it now is.', schema: ProjectAnswer } },
    handle: async ({ caller, params, body }) => {
      refusePlacement(body)
      const id = ownProject(caller, params.project_id)
      const changes = { ...(body.name && { name: body.name }), ...parseTagSettings(body) }
      const isChanged = Object.keys(changes).length > 0
      return projectToWire(
        await (isChanged ? projects.change(caller, id, changes) : projects.read(caller.accountId, id)),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/projects/:project_id/archive',
    access: inProject('projects.manage'),
    summary: 'Archive a project',
    params: ProjectParams,
    responses: {
      200: { description: 'The project. Every process refuses its keys from now on.', schema: ProjectAnswer },
    },
    handle: async ({ caller, params }) =>
      projectToWire(await projects.archive(caller, ownProject(caller, params.project_id))),
  }),
]

/** Where data is stored is a promise that the gateway cannot keep for one project. */
function refusePlacement(body: {
  residency?: string | null
  external_key_id?: string | null
  geography?: string | null
}): void {
  const { residency = null, external_key_id: key = null, geography = null } = body
  const param =
    residency !== null && residency !== 'GLOBAL'
      ? 'residency'
      : key !== null
        ? 'external_key_id'
        : geography !== null
          ? 'geography'
          : null
  if (param === null) return
  throw new AppError('unsupported_parameter', `'${param}' would not be honoured here.`, { param })
}

function projectToWire(project: Project): Static<typeof ProjectAnswer> {
  const { archivedAtMs } = project
  return {
    id: wireId('project', project.id),
    object: 'organization.project',
    name: project.name,
    created_at: unixSeconds(project.createdAtMs),
    archived_at: archivedAtMs === null ? null : unixSeconds(archivedAtMs),
    status: archivedAtMs === null ? 'active' : 'archived',
    external_key_id: null,
    residency: 'GLOBAL',
    ...tagSettingsToWire(project),
  }
}
