import type { MakeCall } from './walk-call.ts'

const TOKENS = '/v1/organization/scim_tokens'
const USERS = '/scim/v2/Users'
const GROUPS = '/scim/v2/Groups'

/** Operations of a directory, and on its tokens. */
export async function walkScim(call: MakeCall): Promise<void> {
  const token = await call(`POST ${TOKENS}`)
  await call(`GET ${TOKENS}`)
  await call(`GET ${TOKENS}/{token_id}`, { params: { token_id: token.id } })
  const key = String(token.value)
  const user = await call(`POST ${USERS}`, { key })
  const params = { id: String(user.id) }
  await call(`GET ${USERS}`, { key })
  await call(`GET ${USERS}/{id}`, { key, params })
  await call(`PATCH ${USERS}/{id}`, { key, params })
  await call(`PUT ${USERS}/{id}`, { key, params })
  const group = await call(`POST ${GROUPS}`, { key })
  const ofGroup = { id: String(group.id) }
  await call(`GET ${GROUPS}`, { key })
  await call(`GET ${GROUPS}/{id}`, { key, params: ofGroup })
  const members = { Operations: [{ op: 'add', path: 'members', value: [{ value: params.id }] }] }
  await call(`PATCH ${GROUPS}/{id}`, {
    key,
    params: ofGroup,
    query: '?attributes=displayName,members',
    body: members,
  })
  await call(`PUT ${GROUPS}/{id}`, { key, params: ofGroup })
  await call(`DELETE ${GROUPS}/{id}`, { key, params: ofGroup })
  await call('GET /scim/v2/ServiceProviderConfig', { key })
  await call('GET /scim/v2/ResourceTypes', { key })
  await call('GET /scim/v2/ResourceTypes/{id}', { key, params: { id: 'User' } })
  await call('GET /scim/v2/Schemas', { key })
  await call('GET /scim/v2/Schemas/{id}', {
    key,
    params: { id: 'urn:ietf:params:scim:schemas:core:2.0:Group' },
  })
  await call('GET /v1/organization/scim')
  await call(`DELETE ${USERS}/{id}`, { key, params })
  await call(`DELETE ${TOKENS}/{token_id}`, { params: { token_id: token.id } })
}
