import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('a request without a working key', () => {
  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['no token', { authorization: 'Bearer ' }],
    ['a key of no known form', { authorization: 'Bearer sk-123' }],
    ['an unknown key', { authorization: `Bearer pk-dev-${'A'.repeat(43)}` }],
  ])('401: %s', async (_what, headers) => {
    const response = await fetch(`${gateway.baseUrl}/v1/tenants/me`, { headers })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(await response.json()).toMatchObject({
      error: { type: 'authentication_error', code: 'invalid_api_key', param: null },
    })
  })

  test('401: the answer does not repeat the key', async () => {
    const key = `pk-live-${'Secret'.repeat(8)}`
    const { status, body } = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(status).toBe(401)
    expect(JSON.stringify(body)).not.toContain('Secret')
  })
})
