import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { joinAccount } from './join-account.ts'

type Person = Awaited<ReturnType<typeof joinAccount>>

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const failure = ({ status, body }: TestAnswer) => [status, body.error?.code]

describe('the last owner of an account', () => {
  test('is neither removed nor demoted by people, but by a key of the account', async () => {
    const account = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'Company' } })
    const made = await gateway.request('POST', `/v1/admin/accounts/${account.body.id}/api-keys`, {
      body: { name: 'first', scopes: ['inference', 'manage'] },
    })
    const key = String(made.body.key)
    const [first, second] = [
      await joinAccount(gateway, { email: 'first@example.com', role: 'owner', key }),
      await joinAccount(gateway, { email: 'second@example.com', role: 'owner', key }),
    ]
    const at = `/v1/organization/users`
    const demote = (by: Person, id: string) => by.request('POST', `${at}/${id}`, { role: 'reader' })
    const both = await Promise.all([demote(first, second.id), demote(second, first.id)])
    expect(both.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
    const left = (await gateway.request('GET', at, { key })).body.data.filter(
      ({ role }: { role: string }) => role === 'owner',
    )
    expect(left).toHaveLength(1)
    const last = left[0].id === first.id ? first : second
    expect(failure(await demote(last, last.id))).toEqual([409, 'conflict'])
    expect(failure(await last.request('DELETE', `${at}/${last.id}`))).toEqual([409, 'conflict'])
    expect((await gateway.request('DELETE', `${at}/${last.id}`, { key })).status).toBe(200)
  })
})
