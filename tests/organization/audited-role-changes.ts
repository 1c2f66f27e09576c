import type { TestGateway } from '../support/start-test-gateway.ts'
import type { Prepare } from './audited-changes.ts'
import { createProject, joinAccount } from './join-account.ts'

let count = 0

async function createRole(gateway: TestGateway, projectId?: string): Promise<string> {
  count += 1
  const at = projectId === undefined ? '/v1/organization/roles' : `/v1/projects/${projectId}/roles`
  const body = { role_name: `Audited ${count}`, permissions: ['usage.read'] }
  return String((await gateway.request('POST', at, { body })).body.id)
}

/** A role in the account or in a new project, and a person or group of that place who may get it. */
async function createHolder(gateway: TestGateway, kind: 'user' | 'group', isOfProject: boolean) {
  count += 1
  const project_id = isOfProject ? await createProject(gateway) : undefined
  const roleId = await createRole(gateway, project_id)
  const place = project_id === undefined ? {} : { project_id }
  if (kind === 'user') {
    const projects = project_id === undefined ? [] : [{ id: project_id, role: 'viewer' }]
    const { id } = await joinAccount(gateway, { email: `holder-${count}@example.com`, projects })
    return { roleId, params: { ...place, user_id: id } }
  }
  const made = await gateway.request('POST', '/v1/organization/groups', {
    body: { name: `Holders ${count}` },
  })
  const group_id = String(made.body.id)
  if (project_id !== undefined)
    await gateway.request('POST', `/v1/organization/projects/${project_id}/groups`, {
      body: { group_id, role: 'viewer' },
    })
  return { roleId, params: { ...place, group_id } }
}

function changesOfRoles(at: string, isOfProject: boolean): Record<string, Prepare> {
  const prepare = async (gateway: TestGateway) => {
    const project_id = isOfProject ? await createProject(gateway) : undefined
    return { project_id, role_id: await createRole(gateway, project_id) }
  }
  const paramsOf = ({ project_id, role_id }: Awaited<ReturnType<typeof prepare>>) => ({
    role_id,
    ...(project_id === undefined ? {} : { project_id }),
  })
  return {
    [`POST ${at}`]: async (gateway) => {
      count += 1
      return {
        type: 'role.created',
        ...(isOfProject && { params: { project_id: await createProject(gateway) } }),
        body: { role_name: `Audited ${count}`, permissions: ['usage.read'] },
      }
    },
    [`POST ${at}/{role_id}`]: async (gateway) => ({
      type: 'role.updated',
      params: paramsOf(await prepare(gateway)),
      body: { permissions: ['log.read'] },
    }),
    [`DELETE ${at}/{role_id}`]: async (gateway) => ({
      type: 'role.deleted',
      params: paramsOf(await prepare(gateway)),
    }),
  }
}

function changesOfHolders(at: string, kind: 'user' | 'group', isOfProject: boolean): Record<string, Prepare> {
  return {
    [`POST ${at}`]: async (gateway) => {
      const { roleId, params } = await createHolder(gateway, kind, isOfProject)
      return { type: 'role.assignment.created', params, body: { role_id: roleId }, resourceId: roleId }
    },
    [`DELETE ${at}/{role_id}`]: async (gateway) => {
      const { roleId, params } = await createHolder(gateway, kind, isOfProject)
      const path = at.replace(/\{(\w+)\}/g, (_, name: string) => Object(params)[name])
      await gateway.request('POST', path, { body: { role_id: roleId } })
      return {
        type: 'role.assignment.deleted',
        params: { ...params, role_id: roleId },
        resourceId: roleId,
      }
    },
  }
}

/** The changes of roles and of who has them. */
export const AUDITED_ROLE_CHANGES: Readonly<Record<string, Prepare>> = {
  ...changesOfRoles('/v1/organization/roles', false),
  ...changesOfRoles('/v1/projects/{project_id}/roles', true),
  ...changesOfHolders('/v1/organization/users/{user_id}/roles', 'user', false),
  ...changesOfHolders('/v1/organization/groups/{group_id}/roles', 'group', false),
  ...changesOfHolders('/v1/projects/{project_id}/users/{user_id}/roles', 'user', true),
  ...changesOfHolders('/v1/projects/{project_id}/groups/{group_id}/roles', 'group', true),
}
