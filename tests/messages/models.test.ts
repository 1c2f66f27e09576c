import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

const idsOf = async (path: string, headers: Record<string, string> = {}) => {
  const { body } = await gateway.request('GET', path, { headers })
  return body.data.map(({ id }: { id: string }) => id)
}

test.each([
  ['at the address of the gateway', ''],
  ['at the address with the vendor’s name', '/anthropic'],
])('the official SDK lists all models, page by page, %s', async (_name, base) => {
  const client = new Anthropic({ baseURL: gateway.baseUrl + base, apiKey: gateway.key, maxRetries: 0 })
  const listed: string[] = []
  for await (const { id, type, display_name: name, created_at: createdAt } of client.models.list({
    limit: 7,
  })) {
    expect([type, name.length > 0, Number.isNaN(Date.parse(createdAt))]).toEqual(['model', true, false])
    listed.push(id)
  }
  expect(listed).toEqual(await idsOf('/v1/models'))
})

test('a page before a model is the one that led to it', async () => {
  const path = '/anthropic/v1/models'
  const first = (await gateway.request('GET', `${path}?limit=3`)).body
  const second = (await gateway.request('GET', `${path}?limit=3&after_id=${first.last_id}`)).body
  expect(second.data).toHaveLength(3)
  const back = (await gateway.request('GET', `${path}?limit=3&before_id=${second.first_id}`)).body
  expect(back).toMatchObject({ first_id: first.first_id, last_id: first.last_id, has_more: false })
})

test('a client that asks for a thousand gets all models', async () => {
  const headers = { 'anthropic-version': '2023-06-01' }
  expect(await idsOf('/v1/models?limit=1000', headers)).toEqual(await idsOf('/v1/models'))
})
