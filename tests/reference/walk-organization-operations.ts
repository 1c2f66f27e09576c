import { walkBudgets } from './walk-budget-operations.ts'
import type { MakeCall } from './walk-call.ts'

const USAGE_ROUTES = [
  'costs',
  'usage/completions',
  'usage/embeddings',
  'usage/moderations',
  'usage/images',
  'usage/audio_speeches',
  'usage/audio_transcriptions',
]
const PROJECT = '/v1/organization/projects/{project_id}'

/** Operations on the people and projects of the caller's account. */
export async function walkOrganization(call: MakeCall): Promise<void> {
  const project = await call('POST /v1/organization/projects')
  const params = { project_id: String(project.id) }
  await call('GET /v1/organization/projects')
  await call(`GET ${PROJECT}`, { params })
  await call(`POST ${PROJECT}`, { params })
  for (const route of USAGE_ROUTES)
    await call(`GET /v1/organization/${route}`, {
      query: `?start_time=${Math.floor(Date.now() / 1000)}&limit=1`,
    })
  const admin = await call('POST /v1/organization/admin_api_keys')
  await call('GET /v1/organization/admin_api_keys')
  await call('GET /v1/organization/admin_api_keys/{key_id}', { params: { key_id: admin.id } })
  await call('DELETE /v1/organization/admin_api_keys/{key_id}', { params: { key_id: admin.id } })
  const invite = await call('POST /v1/organization/invites')
  await call('GET /v1/organization/invites')
  await call('GET /v1/organization/invites/{invite_id}', { params: { invite_id: invite.id } })
  await call('POST /v1/invites/accept', { key: null, body: { code: invite.code, name: 'Grace Hopper' } })
  const withdrawn = await call('POST /v1/organization/invites', {
    body: { email: 'alan@example.com', role: 'reader' },
  })
  await call('DELETE /v1/organization/invites/{invite_id}', { params: { invite_id: withdrawn.id } })
  const { data } = await call('GET /v1/organization/users')
  const user = { user_id: String(data[0].id) }
  await call('GET /v1/organization/users/{user_id}', { params: user })
  await call('POST /v1/organization/managed_settings')
  await call('GET /v1/organization/users/{user_id}/managed_settings', { params: user })
  await call(`POST ${PROJECT}/users`, { params })
  await call(`GET ${PROJECT}/users`, { params })
  await call(`GET ${PROJECT}/users/{user_id}`, { params: { ...params, ...user } })
  await call(`POST ${PROJECT}/users/{user_id}`, { params: { ...params, ...user } })
  await walkGroups(call, params, user)
  await walkRoles(call, '/v1/organization', { user })
  await walkRoles(call, '/v1/projects/{project_id}', { project: params, user })
  await walkOperators(call, user)
  await walkBudgets(call, params)
  const limited = { params: { ...params, rate_limit_id: 'rl-gpt-5.4-mini' } }
  await call(`POST ${PROJECT}/rate_limits/{rate_limit_id}`, limited)
  await call(`GET ${PROJECT}/rate_limits`, { params })
  // Others of this walk need what is stored.
  await call('POST /v1/organization/data_retention', {
    body: { retention_type: 'modified_abuse_monitoring' },
  })
  await call('POST /v1/organization/sign_in_policy')
  await call('GET /v1/organization/sign_in_policy')
  await call('GET /v1/organization/data_retention')
  await call(`POST ${PROJECT}/data_retention`, { params })
  await call(`GET ${PROJECT}/data_retention`, { params })
  await call(`POST ${PROJECT}/model_permissions`, { params })
  await call(`GET ${PROJECT}/model_permissions`, { params })
  await call(`DELETE ${PROJECT}/model_permissions`, { params })
  await call(`DELETE ${PROJECT}/users/{user_id}`, { params: { ...params, ...user } })
  const service = await call(`POST ${PROJECT}/service_accounts`, { params })
  const ofService = { params: { ...params, service_account_id: String(service.id) } }
  await call(`GET ${PROJECT}/service_accounts`, { params })
  await call(`GET ${PROJECT}/service_accounts/{service_account_id}`, ofService)
  await call(`POST ${PROJECT}/service_accounts/{service_account_id}`, ofService)
  await call(`POST ${PROJECT}/service_accounts/{service_account_id}/api_keys`, ofService)
  await walkTrust(call, params, String(service.id))
  const { data: keys } = await call(`GET ${PROJECT}/api_keys`, { params })
  const ofKey = { params: { ...params, api_key_id: String(keys[0].id) } }
  await call(`GET ${PROJECT}/api_keys/{api_key_id}`, ofKey)
  await call(`DELETE ${PROJECT}/api_keys/{api_key_id}`, ofKey)
  await call(`DELETE ${PROJECT}/service_accounts/{service_account_id}`, ofService)
  await call(`POST ${PROJECT}/archive`, { params, body: null })
  await call('POST /v1/organization/users/{user_id}', { params: user })
  await call('POST /v1/admin/users/{id}/deactivate', { params: { id: user.user_id }, body: null })
  await call('POST /v1/admin/users/{id}/activate', { params: { id: user.user_id }, body: null })
  await call('DELETE /v1/organization/users/{user_id}', { params: user })
  await call('GET /v1/organization/audit_logs')
}

async function walkTrust(call: MakeCall, project: { project_id: string }, owner: string): Promise<void> {
  const made = await call(`POST ${PROJECT}/trusted_issuers`, {
    params: project,
    body: {
      name: 'GitHub Actions',
      issuer: 'https://token.actions.githubusercontent.com',
      audience: 'https://gateway.example.com',
      rules: [{ claims: { repository: 'acme/site', ref: 'refs/heads/main' }, service_account_id: owner }],
    },
  })
  const params = { ...project, issuer_id: String(made.id) }
  await call(`GET ${PROJECT}/trusted_issuers`, { params: project })
  await call(`POST ${PROJECT}/trusted_issuers/{issuer_id}`, { params })
  await call(`DELETE ${PROJECT}/trusted_issuers/{issuer_id}`, { params })
}

async function walkGroups(
  call: MakeCall,
  project: { project_id: string },
  user: { user_id: string },
): Promise<void> {
  const created = await call('POST /v1/organization/groups')
  const params = { group_id: String(created.id) }
  await call('GET /v1/organization/groups')
  await call('GET /v1/organization/groups/{group_id}', { params })
  await call('POST /v1/organization/groups/{group_id}', { params })
  const users = 'organization/groups/{group_id}/users'
  await call(`POST /v1/${users}`, { params, body: user })
  await call(`GET /v1/${users}`, { params })
  await call(`GET /v1/${users}/{user_id}`, { params: { ...params, ...user } })
  await call(`POST ${PROJECT}/groups`, { params: project, body: { ...params, role: 'member' } })
  await call(`GET ${PROJECT}/groups`, { params: project })
  await call(`GET ${PROJECT}/groups/{group_id}`, { params: { ...project, ...params } })
  await call(`DELETE ${PROJECT}/groups/{group_id}`, { params: { ...project, ...params } })
  await call(`DELETE /v1/${users}/{user_id}`, { params: { ...params, ...user } })
  await call('DELETE /v1/organization/groups/{group_id}', { params })
}

async function walkRoles(
  call: MakeCall,
  base: string,
  { project = {}, user }: { project?: Record<string, string>; user: Record<string, string> },
): Promise<void> {
  const made = await call(`POST ${base}/roles`, {
    params: project,
    body: { role_name: 'Cost watcher', permissions: ['usage.read'] },
  })
  const role = { role_id: String(made.id) }
  await call(`GET ${base}/roles`, { params: project })
  await call(`GET ${base}/roles/{role_id}`, { params: { ...project, ...role } })
  await call(`POST ${base}/roles/{role_id}`, { params: { ...project, ...role } })
  const { id } = await call('POST /v1/organization/groups', { body: { name: `Watchers of ${base}` } })
  const group = { group_id: String(id) }
  if (project['project_id'] !== undefined)
    await call(`POST ${PROJECT}/groups`, { params: project, body: { ...group, role: 'viewer' } })
  for (const [kind, holder] of [
    ['user', user],
    ['group', group],
  ] as const) {
    const at = `${base}/${kind}s/{${kind}_id}/roles`
    const params = { ...project, ...holder }
    await call(`POST ${at}`, { params, body: role })
    await call(`GET ${at}`, { params })
    await call(`GET ${at}/{role_id}`, { params: { ...params, ...role } })
    await call(`DELETE ${at}/{role_id}`, { params: { ...params, ...role } })
  }
  await call(`DELETE ${base}/roles/{role_id}`, { params: { ...project, ...role } })
}

async function walkOperators(call: MakeCall, user: { user_id: string }): Promise<void> {
  await call('POST /v1/admin/operators', { body: { ...user, role: 'operator-reader' } })
  await call('GET /v1/admin/operators')
  await call('DELETE /v1/admin/operators/{user_id}', { params: user })
  const at = '/v1/admin/identity-providers'
  const params = { id: (await call(`POST ${at}`)).id }
  await call(`GET ${at}`)
  await call(`GET ${at}/{id}`, { params })
  await call(`PATCH ${at}/{id}`, { params })
  await call(`POST ${at}/{id}/test`, { params })
  await call(`DELETE ${at}/{id}`, { params })
}
