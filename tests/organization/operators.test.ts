import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { joinAccount } from './join-account.ts'

let gateway: TestGateway
let names = 0

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const nextName = () => `Name ${(names += 1)}`
const join = () => joinAccount(gateway, { email: `person${(names += 1)}@example.com` })
const failure = ({ status, body }: TestAnswer) => [status, body.error?.code]

describe('operators', () => {
  test('are named by an operator, in their sessions only, and lose it in every process', async () => {
    const person = await join()
    expect((await person.request('GET', '/v1/admin/accounts')).status).toBe(403)
    const at = '/v1/admin/operators'
    const body = { user_id: person.id, role: 'operator-reader' }
    expect((await gateway.request('POST', at, { body })).body).toMatchObject({
      id: person.id,
      role: body.role,
    })
    expect((await person.request('GET', '/v1/admin/accounts')).status).toBe(200)
    expect(failure(await person.request('POST', '/v1/admin/accounts', { name: 'x' }))[0]).toBe(403)
    expect(failure(await person.request('POST', at, { ...body, role: 'operator' }))[0]).toBe(403)
    const key = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own', scopes: ['admin'] })
    expect(key.status).toBe(403)
    const plain = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own', scopes: ['manage'] })
    expect((await gateway.request('GET', '/v1/admin/accounts', { key: plain.body.key })).status).toBe(403)
    expect((await gateway.request('DELETE', `${at}/${person.id}`)).body.deleted).toBe(true)
    expect((await person.request('GET', '/v1/admin/accounts')).status).toBe(403)
  })

  test('gain nothing for whoever invites their address to another account', async () => {
    const person = await join()
    await gateway.request('POST', '/v1/admin/operators', { body: { user_id: person.id, role: 'operator' } })
    expect((await person.request('GET', '/v1/admin/accounts')).status).toBe(200)
    const account = await gateway.request('POST', '/v1/admin/accounts', { body: { name: nextName() } })
    const made = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
      body: { name: 'first', scopes: ['inference', 'manage'] },
    })
    const elsewhere = await joinAccount(gateway, { email: person.email, role: 'owner', key: made.body.key })
    expect((await elsewhere.request('GET', '/v1/admin/accounts')).status).toBe(403)
  })
})
