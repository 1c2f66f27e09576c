import { Type, type Static } from 'typebox'
import type { ProjectModels, Projects } from '../../../modules/projects/projects.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { managedProject, ownProject, ProjectParams } from './own-project.ts'

const MODELS_MAX = 500

const Mode = Type.Enum(['allow_list', 'deny_list'], {
  description: 'Whether the project may use only these models, or all but these.',
})
const modelIds = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }), {
    maxItems: MODELS_MAX,
    description,
  })

const PermissionsAnswer = Type.Object(
  {
    object: objectName('project.model_permissions'),
    mode: Mode,
    model_ids: modelIds(
      'The models. An empty `deny_list`, as in a project without permissions, denies none.',
    ),
  },
  { title: 'ProjectModelPermissions' },
)
const PermissionsBody = Type.Object(
  {
    mode: Mode,
    model_ids: modelIds('Ids or aliases of models, and `byom-…` of deployments. An alias means its model.'),
  },
  { additionalProperties: false, examples: [{ mode: 'allow_list', model_ids: ['gpt-5.4-mini'] }] },
)
const DeletedAnswer = Type.Object({
  object: objectName('project.model_permissions.deleted'),
  deleted: Type.Literal(true, { description: 'The project may use every model.' }),
})

const shared = {
  tag: 'Organization',
  path: '/v1/organization/projects/:project_id/model_permissions',
  params: ProjectParams,
} as const

export const projectModelPermissionRoutes = ({
  projects: { modelPermissions },
}: {
  projects: Projects
}): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    access: inProject('organization.read'),
    summary: 'Read the model permissions of a project',
    responses: { 200: { description: 'Which models the project may use.', schema: PermissionsAnswer } },
    handle: async ({ caller, params }) =>
      toWire(await modelPermissions.read(caller.accountId, ownProject(caller, params.project_id))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    access: inAccount('projects.manage'),
    summary: 'Set the model permissions of a project',
    body: PermissionsBody,
    responses: {
      200: { description: 'They hold for every key of the project from now on.', schema: PermissionsAnswer },
    },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: managedProject(caller, params.project_id) }
      return toWire(await modelPermissions.set(place, { mode: body.mode, modelIds: body.model_ids }))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    access: inAccount('projects.manage'),
    summary: 'Delete the model permissions of a project',
    responses: { 200: { description: 'The project may use every model again.', schema: DeletedAnswer } },
    handle: async ({ caller, params }) => {
      await modelPermissions.delete({ caller, projectId: managedProject(caller, params.project_id) })
      return { object: 'project.model_permissions.deleted', deleted: true }
    },
  }),
]

function toWire({ mode, modelIds: ids }: ProjectModels): Static<typeof PermissionsAnswer> {
  return { object: 'project.model_permissions', mode, model_ids: [...ids] }
}
