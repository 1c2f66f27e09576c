import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROTECTIVE_MEMBERS } from '../../src/providers/requests/protective-members.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

interface Operation {
  readonly requestBody?: {
    content: Record<
      string,
      { schema?: { $ref?: string; properties?: object }; example?: Record<string, unknown> }
    >
  }
}

let gateway: TestGateway
let document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties?: object }> }
}

beforeAll(async () => {
  gateway = await startTestGateway()
  document = (await gateway.request('GET', '/openapi.json', { key: null })).body
})

afterAll(() => gateway.close())

function membersOf({ $ref = '', properties = {} }: { $ref?: string; properties?: object }): string[] {
  return Object.keys(document.components.schemas[$ref.split('/').at(-1) ?? '']?.properties ?? properties)
}

test('a safety member is supported or refused, on every route with a body', async () => {
  const tried: string[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const { schema, example } = requestBody?.content['application/json'] ?? {}
      // Directories send attributes of their own, which SCIM lets a server ignore.
      if (schema === undefined || example === undefined || /\/webhook\/|^\/scim\//.test(path)) continue
      const known = membersOf(schema)
      for (const param of PROTECTIVE_MEMBERS.filter((name) => !known.includes(name))) {
        const body = { ...example, [param]: param.endsWith('_usd') ? 1 : ['strict'] }
        const answer = await gateway.request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), { body })
        const { code, param: told } = answer.body.error ?? {}
        expect([method, path, answer.status, code, told]).toEqual([
          method,
          path,
          400,
          'unsupported_parameter',
          param,
        ])
        tried.push(`${method} ${path}`)
      }
    }
  }
  expect(new Set(tried).size).toBeGreaterThan(25)
  expect(tried).toEqual(
    expect.arrayContaining([
      'post /v1/chat/completions',
      'post /v1/images/generations',
      'post /v1/videos/generations',
      'post /v1/audio/transcriptions',
      'post /v1/compare/conversations/{id}/turns',
      'post /v1/tenants/me/api-keys',
    ]),
  )
})

test('the same applies to a lane of a comparison, and empty values are not refused', async () => {
  const lanes = [{ model: 'gpt-4o-mini', pii_mode: 'mask' }, { model: 'gpt-4o' }]
  const refused = await gateway.request('POST', '/v1/compare/runs', { body: { prompt: 'x', lanes } })
  expect([refused.status, refused.body.error?.param]).toEqual([400, 'lanes.0.pii_mode'])
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], pii_mode: null }
  expect((await gateway.request('POST', '/v1/chat/completions', { body })).status).toBe(200)
})
