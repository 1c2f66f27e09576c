import type { TestGateway } from '../support/start-test-gateway.ts'
import type { Prepare } from './audited-changes.ts'
import { createProject } from './join-account.ts'

const ISSUERS = '/v1/organization/projects/{project_id}/trusted_issuers'
const SETTINGS = '/v1/organization/managed_settings'

/** The routes about agents that change something, like `AUDITED_CHANGES`. */
export const AUDITED_AGENT_CHANGES: Readonly<Record<string, Prepare>> = {
  [`POST ${SETTINGS}`]: async () => ({
    type: 'managed_settings.updated',
    body: { settings: { model: 'claude-sonnet-5' } },
  }),
  [`DELETE ${SETTINGS}/{managed_settings_id}`]: async (gateway) => {
    const { body } = await gateway.request('POST', SETTINGS, { body: { settings: {} } })
    return { type: 'managed_settings.deleted', params: { managed_settings_id: String(body.id) } }
  },
  [`POST ${ISSUERS}`]: async (gateway) => {
    const { project_id, body } = await describeIssuer(gateway)
    return { type: 'trusted_issuer.created', params: { project_id }, body }
  },
  [`POST ${ISSUERS}/{issuer_id}`]: async (gateway) => {
    const params = await trustIssuer(gateway)
    return { type: 'trusted_issuer.updated', params, body: { name: 'Another name' } }
  },
  [`DELETE ${ISSUERS}/{issuer_id}`]: async (gateway) => ({
    type: 'trusted_issuer.deleted',
    params: await trustIssuer(gateway),
  }),
}

async function describeIssuer(gateway: TestGateway) {
  const project_id = await createProject(gateway)
  const at = `/v1/organization/projects/${project_id}/service_accounts`
  const { body: owner } = await gateway.request('POST', at, {
    body: { name: 'CI', create_service_account_only: true },
  })
  const rules = [{ claims: { sub: 'x' }, service_account_id: owner.id }]
  return { project_id, body: { name: 'CI', issuer: 'https://ci.example.com', audience: 'here', rules } }
}

async function trustIssuer(gateway: TestGateway): Promise<Record<string, string>> {
  const { project_id, body } = await describeIssuer(gateway)
  const at = ISSUERS.replace('{project_id}', project_id)
  const { body: made } = await gateway.request('POST', at, { body })
  return { project_id, issuer_id: String(made.id) }
}
