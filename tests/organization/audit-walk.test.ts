import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { AUDITED_AGENT_CHANGES } from './audited-agent-changes.ts'
import { AUDITED_BUDGET_CHANGES } from './audited-budget-changes.ts'
import { AUDITED_CHANGES } from './audited-changes.ts'
import { AUDITED_ROLE_CHANGES } from './audited-role-changes.ts'
import { AUDITED_SCIM_CHANGES } from './audited-scim-changes.ts'
import { createProject } from './join-account.ts'

const CHANGES = {
  ...AUDITED_CHANGES,
  ...AUDITED_AGENT_CHANGES,
  ...AUDITED_BUDGET_CHANGES,
  ...AUDITED_ROLE_CHANGES,
  ...AUDITED_SCIM_CHANGES,
}

let gateway: TestGateway
let ownKeyId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body } = await gateway.request('GET', '/v1/organization/admin_api_keys')
  ownKeyId = body.data[0].id
  // Entries are read from a known one on.
  await createProject(gateway)
})
afterAll(() => gateway.close())

test('every route of the organization that changes something is walked here', async () => {
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  const paths: Record<string, Record<string, unknown>> = body.paths
  const changing = Object.entries(paths)
    .filter(([path]) => /^\/v1\/(organization|projects)\//.test(path))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .filter((operation) => /^(POST|PUT|PATCH|DELETE) /.test(operation))
  expect(Object.keys(CHANGES).toSorted()).toEqual(changing.toSorted())
})

describe('an entry with its actor, address, project and resource is written by', () => {
  test.each(Object.entries(CHANGES))('%s', async (operation, prepare) => {
    const { type, params = {}, body, ...expected } = await prepare(gateway)
    const newest = await gateway.request('GET', '/v1/organization/audit_logs?limit=1')
    const [method = '', template = ''] = operation.split(' ')
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name)
    const answer = await gateway.request(method, path, { ...(body !== undefined && { body }) })
    expect([answer.status, answer.body]).toEqual([200, answer.body])

    const before = newest.body.first_id
    const { body: log } = await gateway.request('GET', `/v1/organization/audit_logs?before=${before}`)
    const { resourceId = answer.body.id } = expected
    const entry = log.data.find((one: Record<string, { id: string }>) =>
      resourceId === null ? type in one : one[type]?.id === resourceId,
    )
    expect([type, entry?.actor, entry?.ip_address, entry?.project?.id ?? null]).toEqual([
      type,
      { type: 'api_key', api_key: { id: ownKeyId } },
      '127.0.0.1',
      projectOf(expected, params, resourceId),
    ])
  })
})

function projectOf(
  { projectId }: { projectId?: string | null },
  params: Readonly<Record<string, string>>,
  resourceId: string | null,
): string | null {
  if (projectId !== undefined) return projectId
  return params['project_id'] ?? (resourceId?.startsWith('proj_') === true ? resourceId : null)
}
