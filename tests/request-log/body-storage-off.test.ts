import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'

const ask = { body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] } }

test('without a setting only operators switch body storage on', async () => {
  const gateway = await startTestGateway()
  try {
    const { body: me } = await gateway.request('GET', '/v1/tenants/me')
    const own = await gateway.request('PATCH', '/v1/body-storage', { body: { enabled: true } })
    expect([own.status, own.body.error.code]).toEqual([403, 'forbidden'])
    const path = `/v1/admin/accounts/${me.id}/body-storage`
    expect((await gateway.request('PATCH', path, { body: { enabled: true } })).status).toBe(200)
    const { body } = await gateway.request('GET', '/v1/body-storage')
    expect([body.enabled, body.may_change]).toEqual([true, false])
  } finally {
    await gateway.close()
  }
})

test('with PARKWAY_BODY_STORAGE=off nothing is stored, whatever was set before', async () => {
  const before = await startTestGateway()
  try {
    const { body: me } = await before.request('GET', '/v1/tenants/me')
    const path = `/v1/admin/accounts/${me.id}/body-storage`
    await before.request('PATCH', path, { body: { enabled: true } })
    const { connectionString } = before
    const gateway = await startTestGateway({ connectionString, settings: { PARKWAY_BODY_STORAGE: 'off' } })
    try {
      const answer = await gateway.request('POST', '/v1/chat/completions', ask)
      const requestId = answer.headers.get('x-request-id') ?? ''
      const { body } = await gateway.request('GET', '/v1/body-storage')
      expect([answer.status, body.enabled, body.stored_bytes]).toEqual([200, false, 0])
      expect((await gateway.request('GET', `/v1/requests/${requestId}/body`)).status).toBe(404)
      expect((await gateway.request('PATCH', path, { body: { enabled: true } })).status).toBe(403)
    } finally {
      await gateway.close()
    }
  } finally {
    await before.close()
  }
})
