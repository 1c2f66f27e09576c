import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { CHAT, startChatGateway, UPSTREAM_KEY, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { chunksOf, pacedStream, stream } from '../upstreams/openai-server.ts'

let gateway: ChatGateway
let key: string

beforeAll(async () => {
  gateway = await startChatGateway({ settings: { PARKWAY_ROLE: 'api' } })
})

afterAll(() => gateway.close())

beforeEach(async () => {
  key = (await createAccountKey(gateway, { name: 'tenant', credit_usd: 5 })).key
})

const startWorker = () =>
  startTestGateway({
    connectionString: gateway.connectionString,
    settings: {
      OPENAI_API_KEY: UPSTREAM_KEY,
      OPENAI_BASE_URL: gateway.upstream.apiUrl,
      OPENAI_WIRES: 'openai-chat',
      PARKWAY_SHUTDOWN_GRACE_MS: '300',
    },
  })

const WHOLE = stream(chunksOf('one ', 'two ', 'three'))

async function recordsOf(operation: string): Promise<{ cost_usd: number; outcome: string }[]> {
  const { body } = await gateway.request('GET', '/v1/usage/records?limit=50', { key })
  return body.data.filter((record: { operation: string }) => record.operation === operation)
}

test('a background response whose worker stops is made again and charged once, completely', async () => {
  gateway.upstream.respondWith(WHOLE)
  const asked = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Count' }] }
  await gateway.request('POST', CHAT, { key, body: asked })
  const [{ cost_usd: wholeCost } = { cost_usd: 0 }] = await eventually(async () => {
    const records = await recordsOf('chat')
    expect(records).toHaveLength(1)
    return records
  })
  expect(wholeCost).toBeGreaterThan(0)

  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(stream(chunksOf('one ').slice(0, 2), { ending: 'hang' }), WHOLE)
  const first = await startWorker()
  const { body } = await gateway.request('POST', '/v1/responses', {
    key,
    body: { model: 'gpt-4o-mini', input: 'Count', background: true },
  })
  const { abandoned } = await gateway.upstream.requestNumber(0)
  await first.close()
  await abandoned
  expect(await recordsOf('responses')).toEqual([])

  const second = await startWorker()
  try {
    const done = await eventually(async () => {
      const { body: response } = await gateway.request('GET', `/v1/responses/${body.id}`, { key })
      expect(response.status).toBe('completed')
      return response
    })
    expect(done.output[0].content[0].text).toBe('one two three')
    expect(gateway.upstream.requests).toHaveLength(2)
    expect(await recordsOf('responses')).toMatchObject([{ cost_usd: wholeCost, outcome: 'completed' }])
    expect(done.usage.cost_usd).toBe(wholeCost)
  } finally {
    await second.close()
  }
})

test('a worker whose claim another worker has writes nothing of the response and charges nothing for it', async () => {
  const { connectionString } = gateway
  const options = { poolSize: 1, statementTimeoutMs: 10_000, prepareStatements: true, logger: silentLogger }
  const database = connectDatabase({ connectionString, ...options })
  const worker = await startWorker()
  try {
    const paced = pacedStream()
    gateway.upstream.requests.length = 0
    gateway.upstream.respondWith(paced.reply, WHOLE)
    const body = { model: 'gpt-4o-mini', input: 'Count', background: true, stream: true }
    const streamed = gateway.request('POST', '/v1/responses', { key, body })
    const { abandoned } = await gateway.upstream.requestNumber(0)
    await database.query(`UPDATE tasks SET worker_id = gen_random_uuid() WHERE status = 'processing'`)
    const [first, second] = chunksOf('one ')
    paced.release(first ?? {})
    paced.release(second ?? {})
    await abandoned
    expect(await database.query('SELECT FROM response_events')).toEqual([])
    expect(await recordsOf('responses')).toEqual([])

    await database.query(`UPDATE tasks SET status = 'pending', worker_id = NULL WHERE status = 'processing'`)
    expect((await streamed).body).toContain('"text":"one two three"')
    expect(gateway.upstream.requests).toHaveLength(2)
    expect(await recordsOf('responses')).toHaveLength(1)
  } finally {
    await worker.close()
    await database.close()
  }
})
