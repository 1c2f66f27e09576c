import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)
const ajv = new Ajv2020({ strict: false, validateFormats: false })

beforeAll(async () => {
  ajv.addSchema((await gateway.request('GET', '/openapi.json')).body, 'document')
  await home.run(['embed', 'tea'])
  await home.run(['image', '-o', 'cup.png', 'A cup'])
  await home.run(['keys', 'create', '--name', 'second'])
  await home.run(['budgets', 'create', 'account', '500'])
  await home.run(['admin', 'promo', 'create', '5'])
  await home.run(['compare', 'run', '-m', 'gpt-4o-mini', '-m', 'gpt-5.4', '--no-follow', 'Hi'])
})

describe('--json prints what the API describes', () => {
  test.each([
    ['whoami', 'get /v1/tenants/me'],
    ['models show gpt-4o-mini', 'get /v1/models/{id}'],
    ['chat hello', 'post /v1/chat/completions'],
    ['embed hello', 'post /v1/embeddings'],
    ['moderate hello', 'post /v1/moderations'],
    ['rerank sea boat car', 'post /v1/rerank'],
    ['budget', 'get /v1/usage/budget'],
    ['projects create Third', 'post /v1/organization/projects'],
    ['budgets create account 400 --window day', 'post /v1/organization/budgets'],
    ['invite create grace@example.com', 'post /v1/organization/invites'],
    ['groups create Third', 'post /v1/organization/groups'],
    ['roles create Third usage.read', 'post /v1/organization/roles'],
    ['scim', 'get /v1/organization/scim'],
    ['scim create Entra', 'post /v1/organization/scim_tokens'],
    ['costs --by project,tag:team', 'get /v1/organization/costs'],
    ['keys create --name third', 'post /v1/tenants/me/api-keys'],
    ['auto-topup', 'get /v1/payments/auto-top-up'],
    ['anomalies', 'get /v1/usage/anomalies'],
    ['image -o other.png Sky', 'get /v1/tasks/{id}'],
    ['compare run -m gpt-4o-mini -m gpt-5.4 Hello', 'get /v1/compare/runs/{run_id}'],
  ])('%s', async (line, operation) => {
    const { code, stdout, stderr } = await home.run([...line.split(' '), '--json'])
    expect([code, stderr]).toEqual([0, expect.any(String)])
    expectValid(validatorOf(operation), JSON.parse(stdout))
  })

  test.each([
    ['models list --category embedding', 'get /v1/models'],
    ['tasks list', 'get /v1/tasks'],
    ['statements', 'get /v1/statements'],
    ['movements', 'get /v1/ledger'],
    ['logs', 'get /v1/requests'],
    ['logs --all-accounts', 'get /v1/admin/requests'],
    ['keys list', 'get /v1/tenants/me/api-keys'],
    ['compare list', 'get /v1/compare/runs'],
    ['deploy templates', 'get /v1/deployment-templates'],
    ['admin accounts', 'get /v1/admin/accounts'],
    ['admin audit', 'get /v1/admin/audit'],
    ['admin providers list --all', 'get /v1/admin/providers'],
  ])('%s, a line for each entry', async (line, operation) => {
    const { code, stdout } = await home.run([...line.split(' '), '--json'])
    const lines = stdout.trim().split('\n')
    expect([code, lines[0]]).toEqual([0, expect.stringMatching(/^\{/)])
    for (const text of lines) expectValid(validatorOf(operation, '/properties/data/items'), JSON.parse(text))
  })
})

function validatorOf(operation: string, within = ''): ValidateFunction {
  const [method = '', path = ''] = operation.split(' ')
  const escaped = path
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replaceAll('{', '%7B')
    .replaceAll('}', '%7D')
  for (const status of ['200', '201']) {
    const place = `document#/paths/${escaped}/${method}/responses/${status}/content/application~1json/schema`
    const validate = ajv.getSchema(place + within)
    if (validate !== undefined) return validate
  }
  throw new Error(`The API does not describe the answer of ${operation}.`)
}

function expectValid(validate: ValidateFunction, value: unknown): void {
  validate(value)
  expect(validate.errors ?? []).toEqual([])
}
