import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'

let gateway: ChatGateway
let operator: Client
let name: string

beforeEach(async () => {
  gateway = await startChatGateway()
  const url = new URL(gateway.connectionString)
  name = url.pathname.slice(1)
  url.pathname = '/template1'
  operator = new Client({ connectionString: url.href })
  await operator.connect()
})

afterEach(async () => {
  await operator.end()
  await gateway.close()
})

test('a key that cannot be stored is refused before anything is done, and works when it can be', async () => {
  const send = () =>
    gateway.request('POST', CHAT, { body: chatBody(), headers: { 'idempotency-key': 'order' } })
  await gateway.request('POST', CHAT, { body: chatBody() })
  await operator.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`)
  await operator.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'parkway'`,
    [name],
  )
  const refused = await send()
  expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(gateway.upstream.requests).toHaveLength(1)

  await operator.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`)
  await expect.poll(async () => (await send()).status).toBe(200)
  expect((await send()).headers.get('idempotent-replayed')).toBe('true')
  expect(gateway.upstream.requests).toHaveLength(2)
})
