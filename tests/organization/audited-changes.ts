import type { TestGateway } from '../support/start-test-gateway.ts'
import { createProject, createProjectKey, joinAccount } from './join-account.ts'

/** One request that changes something, and the entry that the audit log has to have of it. */
interface AuditedChange {
  readonly type: string
  /** The ids in the path. */
  readonly params?: Readonly<Record<string, string>>
  readonly body?: object
  /** The project of the entry. By default that in the path. */
  readonly projectId?: string | null
  /** The resource of the entry, by default the `id` of the answer. Null if the answer does not tell it. */
  readonly resourceId?: string | null
}

export type Prepare = (gateway: TestGateway) => Promise<AuditedChange>

const PROJECT = '/v1/organization/projects/{project_id}'
let count = 0

async function personIn(gateway: TestGateway, projectId?: string): Promise<string> {
  count += 1
  const projects = projectId === undefined ? [] : [{ id: projectId, role: 'member' }]
  return (await joinAccount(gateway, { email: `audited-${count}@example.com`, projects })).id
}

async function serviceAccountIn(gateway: TestGateway): Promise<Record<string, string>> {
  const project_id = await createProject(gateway)
  const { body } = await gateway.request('POST', `/v1/organization/projects/${project_id}/service_accounts`, {
    body: { name: 'CI', create_service_account_only: true },
  })
  return { project_id, service_account_id: String(body.id) }
}

async function createGroup(gateway: TestGateway): Promise<string> {
  count += 1
  const { body } = await gateway.request('POST', '/v1/organization/groups', { body: { name: `G${count}` } })
  return String(body.id)
}

/**
 * Every route of the organization that changes something. A new route has to be here: its change and its entry are written in one
 * transaction (`recordChange`).
 */
export const AUDITED_CHANGES: Readonly<Record<string, Prepare>> = {
  'POST /v1/organization/users/{user_id}/recovery_link': async (gateway) => {
    const user_id = await personIn(gateway)
    return { type: 'recovery_link.created', params: { user_id }, body: {}, resourceId: user_id }
  },
  'POST /v1/organization/users/{user_id}/end_sessions': async (gateway) => ({
    type: 'logout.succeeded',
    params: { user_id: await personIn(gateway) },
    resourceId: null,
  }),
  'POST /v1/organization/admin_api_keys': async () => ({ type: 'api_key.created', body: { name: 'admin' } }),
  'DELETE /v1/organization/admin_api_keys/{key_id}': async (gateway) => {
    const { body } = await gateway.request('POST', '/v1/organization/admin_api_keys', { body: { name: 'x' } })
    return { type: 'api_key.deleted', params: { key_id: String(body.id) } }
  },
  'POST /v1/organization/groups': async () => ({ type: 'group.created', body: { name: 'Audited' } }),
  'POST /v1/organization/groups/{group_id}': async (gateway) => ({
    type: 'group.updated',
    params: { group_id: await createGroup(gateway) },
    body: { name: 'Renamed' },
  }),
  'DELETE /v1/organization/groups/{group_id}': async (gateway) => ({
    type: 'group.deleted',
    params: { group_id: await createGroup(gateway) },
  }),
  'POST /v1/organization/groups/{group_id}/users': async (gateway) => {
    const group_id = await createGroup(gateway)
    const user_id = await personIn(gateway)
    return { type: 'group.user.added', params: { group_id }, body: { user_id }, resourceId: group_id }
  },
  'DELETE /v1/organization/groups/{group_id}/users/{user_id}': async (gateway) => {
    const params = { group_id: await createGroup(gateway), user_id: await personIn(gateway) }
    const at = `/v1/organization/groups/${params.group_id}/users`
    await gateway.request('POST', at, { body: { user_id: params.user_id } })
    return { type: 'group.user.removed', params, resourceId: params.group_id }
  },
  [`POST ${PROJECT}/groups`]: async (gateway) => {
    const group_id = await createGroup(gateway)
    const params = { project_id: await createProject(gateway) }
    return {
      type: 'project.group.added',
      params,
      body: { group_id, role: 'member' },
      resourceId: group_id,
    }
  },
  [`DELETE ${PROJECT}/groups/{group_id}`]: async (gateway) => {
    const params = { group_id: await createGroup(gateway), project_id: await createProject(gateway) }
    await gateway.request('POST', `/v1/organization/projects/${params.project_id}/groups`, {
      body: { group_id: params.group_id, role: 'member' },
    })
    return { type: 'project.group.removed', params, resourceId: params.group_id }
  },
  'POST /v1/organization/invites': async () => ({
    type: 'invite.sent',
    body: { email: 'audited@example.com', role: 'reader' },
  }),
  'DELETE /v1/organization/invites/{invite_id}': async (gateway) => {
    const { body } = await gateway.request('POST', '/v1/organization/invites', {
      body: { email: 'withdrawn@example.com', role: 'reader' },
    })
    return { type: 'invite.deleted', params: { invite_id: String(body.id) } }
  },
  'POST /v1/organization/projects': async () => ({ type: 'project.created', body: { name: 'Audited' } }),
  [`POST ${PROJECT}`]: async (gateway) => ({
    type: 'project.updated',
    params: { project_id: await createProject(gateway) },
    body: { name: 'Renamed' },
  }),
  [`POST ${PROJECT}/archive`]: async (gateway) => ({
    type: 'project.archived',
    params: { project_id: await createProject(gateway) },
  }),
  [`DELETE ${PROJECT}/api_keys/{api_key_id}`]: async (gateway) => {
    const project_id = await createProject(gateway)
    await createProjectKey(gateway, project_id)
    const { body } = await gateway.request('GET', `/v1/organization/projects/${project_id}/api_keys`)
    return { type: 'api_key.deleted', params: { project_id, api_key_id: String(body.data[0].id) } }
  },
  'POST /v1/organization/data_retention': async () => ({
    type: 'data_retention.updated',
    body: { retention_type: 'zero_data_retention' },
    resourceId: null,
  }),
  [`POST ${PROJECT}/data_retention`]: async (gateway) => {
    const project_id = await createProject(gateway)
    const body = { retention_type: 'zero_data_retention' }
    return { type: 'data_retention.updated', params: { project_id }, body, resourceId: project_id }
  },
  [`POST ${PROJECT}/model_permissions`]: async (gateway) => {
    const project_id = await createProject(gateway)
    const body = { mode: 'allow_list', model_ids: ['gpt-5.4'] }
    return { type: 'model_permissions.updated', params: { project_id }, body, resourceId: project_id }
  },
  [`DELETE ${PROJECT}/model_permissions`]: async (gateway) => {
    const project_id = await createProject(gateway)
    await gateway.request('POST', `/v1/organization/projects/${project_id}/model_permissions`, {
      body: { mode: 'deny_list', model_ids: ['gpt-5.4'] },
    })
    return { type: 'model_permissions.deleted', params: { project_id }, resourceId: project_id }
  },
  [`POST ${PROJECT}/rate_limits/{rate_limit_id}`]: async (gateway) => ({
    type: 'rate_limit.updated',
    params: { project_id: await createProject(gateway), rate_limit_id: 'rl-gpt-5.4' },
    body: { max_requests_per_1_minute: 5 },
  }),
  [`POST ${PROJECT}/service_accounts`]: async (gateway) => ({
    type: 'service_account.created',
    params: { project_id: await createProject(gateway) },
    body: { name: 'CI', create_service_account_only: true },
  }),
  [`POST ${PROJECT}/service_accounts/{service_account_id}`]: async (gateway) => ({
    type: 'service_account.updated',
    params: await serviceAccountIn(gateway),
    body: { role: 'owner' },
  }),
  [`DELETE ${PROJECT}/service_accounts/{service_account_id}`]: async (gateway) => ({
    type: 'service_account.deleted',
    params: await serviceAccountIn(gateway),
  }),
  [`POST ${PROJECT}/service_accounts/{service_account_id}/api_keys`]: async (gateway) => ({
    type: 'api_key.created',
    params: await serviceAccountIn(gateway),
    body: {},
  }),
  [`POST ${PROJECT}/users`]: async (gateway) => ({
    type: 'user.added',
    params: { project_id: await createProject(gateway) },
    body: { user_id: await personIn(gateway), role: 'member' },
  }),
  [`POST ${PROJECT}/users/{user_id}`]: async (gateway) => {
    const project_id = await createProject(gateway)
    const params = { project_id, user_id: await personIn(gateway, project_id) }
    return { type: 'user.updated', params, body: { role: 'owner' } }
  },
  [`DELETE ${PROJECT}/users/{user_id}`]: async (gateway) => {
    const project_id = await createProject(gateway)
    return { type: 'user.deleted', params: { project_id, user_id: await personIn(gateway, project_id) } }
  },
  'POST /v1/organization/users/{user_id}': async (gateway) => ({
    type: 'user.updated',
    params: { user_id: await personIn(gateway) },
    body: { role: 'billing' },
  }),
  'DELETE /v1/organization/users/{user_id}': async (gateway) => ({
    type: 'user.deleted',
    params: { user_id: await personIn(gateway) },
  }),
}
