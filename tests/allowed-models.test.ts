import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const KEYS = '/v1/tenants/me/api-keys'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const createKey = async (): Promise<{ id: string; key: string }> =>
  (await gateway.request('POST', KEYS, { body: { name: 'one' } })).body

describe('the models of a key', () => {
  test('400: a model that does not exist, with the name that was probably meant', async () => {
    const { id, key } = await createKey()
    const { body: other } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Other' } })
    const asked = { allowed_models: ['gpt-5.4', 'gpt-5.4-mnii'] }
    for (const [method, path] of [
      ['POST', KEYS],
      ['PATCH', `${KEYS}/${id}`],
      ['POST', `/v1/admin/accounts/${other.id}/api-keys`],
    ] as const) {
      const { status, body } = await gateway.request(method, path, { body: asked })
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'allowed_models'])
      expect(body.error.message).toBe("There is no model 'gpt-5.4-mnii'. Did you mean 'gpt-5.4-mini'?")
    }
    const nothing = await gateway.request('POST', KEYS, { key, body: { allowed_models: ['x'.repeat(256)] } })
    expect([nothing.status, nothing.body.error.message]).toEqual([
      400,
      `There is no model '${'x'.repeat(256)}'.`,
    ])
  })

  test('a model that has ended may stay in a key', async () => {
    const { id } = await createKey()
    const client = new Client({ connectionString: gateway.connectionString })
    await client.connect()
    await client.query(`UPDATE api_keys SET allowed_models = '{gone,gpt-5.4}' WHERE id = $1`, [id])
    await client.end()
    const { status, body } = await gateway.request('PATCH', `${KEYS}/${id}`, {
      body: { name: 'kept', allowed_models: ['gone', 'gpt-5.4', 'gpt-4o-mini'] },
    })
    expect([status, body.allowed_models]).toEqual([200, ['gone', 'gpt-5.4', 'gpt-4o-mini']])
  })
})
