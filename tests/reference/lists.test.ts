import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** Lists in the form of another API, or of a log that is never counted. */
const OTHER_FORMS = [
  'GET /v1/batches',
  'GET /v1/files',
  'GET /v1/messages/batches',
  'GET /v1/models',
  'GET /anthropic/v1/models',
  'GET /v1/responses/{id}/input_items',
  'GET /v1/requests',
  'GET /v1/admin/requests',
  'GET /v1/admin/request_errors',
  'GET /v1/admin/exports',
  'GET /v1/admin/statements',
  'GET /v1/statements',
  'GET /v1/organization/admin_api_keys',
  'GET /v1/organization/audit_logs',
  'GET /v1/organization/projects',
  'GET /v1/organization/receipts',
  'GET /v1/organization/receipts/keys',
  'GET /v1/organization/users',
  'GET /v1/organization/groups',
  'GET /v1/organization/roles',
  'GET /v1/organization/budgets',
  'GET /v1/organization/budget_requests',
  'GET /v1/organization/spend_alerts',
  'GET /v1/organization/invites',
  'GET /v1/sessions/methods',
  'GET /v1/organization/agent_telemetry',
  'GET /v1/organization/managed_settings',
  'GET /v1/organization/scim_tokens',
]
const MEMBERS = ['object', 'data', 'total', 'has_more', 'next_cursor']

interface Operation {
  readonly summary: string
  readonly parameters?: readonly { readonly in: string; readonly required?: boolean }[]
}

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

test('every list has the same members, and its entries under a name of their own', async () => {
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  const paths: Record<string, Record<string, Operation>> = body.paths
  const tried: string[] = []
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined || !/^List\b/.test(get.summary) || /\{|^\/scim\//.test(path)) continue
    if (OTHER_FORMS.includes(`GET ${path}`) || get.parameters?.some((one) => one.required)) continue
    const answer = await gateway.request('GET', path)
    expect([path, answer.status]).toEqual([path, 200])
    const named = Object.entries(answer.body).filter(
      ([name, value]) => name !== 'data' && Array.isArray(value) && value.length === answer.body.data.length,
    )
    expect([path, MEMBERS.filter((name) => !(name in answer.body)), named.length > 0]).toEqual([
      path,
      [],
      true,
    ])
    tried.push(path)
  }
  expect(tried).toEqual(expect.arrayContaining(['/v1/sessions', '/v1/admin/providers', '/v1/tasks']))
})
