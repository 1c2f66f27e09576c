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

  test('401: the message says what is wrong with the key', async () => {
    const reasonOf = async (key: string): Promise<string> => {
      const { status, body } = await gateway.request('GET', '/v1/tenants/me', { key })
      expect(status).toBe(401)
      return body.error.message
    }
    const make = async (body: object): Promise<{ id: string; key: string }> =>
      (await gateway.request('POST', '/v1/tenants/me/api-keys', { body })).body
    expect(await reasonOf('pk-dev-short')).toMatch(/malformed/)
    expect(await reasonOf(`pk-dev-${'B'.repeat(43)}`)).toMatch(/unknown/)
    const revoked = await make({})
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${revoked.id}`)
    // The first answer comes from the database, the second from the cache.
    expect(await reasonOf(revoked.key)).toMatch(/revoked/)
    expect(await reasonOf(revoked.key)).toMatch(/revoked/)
    const expired = await make({ expires_at: new Date(Date.now() + 1_000).toISOString() })
    await expect
      .poll(async () => (await gateway.request('GET', '/v1/tenants/me', { key: expired.key })).status)
      .toBe(401)
    expect(await reasonOf(expired.key)).toMatch(/expired/)
    // A key that is nearly right gets the same answer as any other unknown key.
    const near = `${revoked.key.slice(0, -1)}${revoked.key.endsWith('x') ? 'y' : 'x'}`
    expect(await reasonOf(near)).toBe(await reasonOf(`pk-dev-${'C'.repeat(43)}`))
  })

  test('401: the answer does not repeat the key', async () => {
    const key = `pk-live-${'Secret'.repeat(8)}`
    const { status, body } = await gateway.request('GET', '/v1/tenants/me', { key })
    expect(status).toBe(401)
    expect(JSON.stringify(body)).not.toContain('Secret')
  })
})
