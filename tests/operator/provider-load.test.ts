import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const PROVIDERS = '/v1/admin/providers'
const CLIENTS = longOr(64, 16)
const CHANGES = longOr(200, 20)

let other: OpenAiServer
let gateway: ChatGateway
let second: TestGateway

beforeAll(async () => {
  other = await startOpenAiServer(completion())
  const routes = [
    { provider: 'changing', model: 'm', priority: 0 },
    { provider: 'passing', model: 'm', priority: 0 },
    { provider: 'openai', model: 'm', priority: 1 },
  ]
  const everybody = {
    name: 'everybody',
    balance_usd: 0,
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent_requests: null,
    spend_usd_per_minute: null,
  }
  const settings = {
    PARKWAY_LIMITS: JSON.stringify({ tiers: [everybody] }),
    PARKWAY_BOOTSTRAP_CREDIT_USD: '1000',
  }
  gateway = await startChatGateway({ models: [modelEntry('changed-model', routes)], settings })
  second = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: {
      ...settings,
      OPENAI_API_KEY: 'sk-upstream-credential',
      OPENAI_BASE_URL: gateway.upstream.apiUrl,
      OPENAI_WIRES: 'openai-chat',
      PARKWAY_CATALOG_FILE: gateway.catalogFile,
    },
  })
}, 60_000)
afterAll(async () => {
  await second.close()
  await gateway.close()
  await other.close()
})

const request = (method: string, path: string, body?: object) =>
  gateway.request(method, PROVIDERS + path, body === undefined ? {} : { body })

test(`no request fails while providers change ${CHANGES} times, and every process follows before a change is answered`, async () => {
  const added = await request('POST', '', {
    name: 'changing',
    base_url: other.apiUrl,
    api_key: 'key-0-0123456789',
  })
  expect(added.status).toBe(201)
  const failed: unknown[] = []
  let answered = 0
  const load = { isOver: false }
  const client = async (index: number): Promise<void> => {
    const from = index % 2 === 0 ? gateway : second
    while (!load.isOver) {
      const answer = await from.request('POST', CHAT, { body: chatBody({ model: 'changed-model' }) })
      answered += 1
      if (answer.status !== 200) failed.push(answer.body)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index))

  for (let round = 1; round <= CHANGES; round += 1) {
    const key = `key-${round}-0123456789`
    const answer = await changeOnce(round, key)
    expect([round, answer.status < 300, answer.body.error?.message]).toEqual([round, true, undefined])
    if (round % 4 === 0) await expectKeyOf(key)
  }
  load.isOver = true
  await Promise.all(clients)
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(CLIENTS)
}, 300_000)

async function changeOnce(round: number, key: string) {
  switch (round % 4) {
    case 0:
      return request('PATCH', '/changing', { credentials: [{ api_key: key }] })
    case 1:
      return request('POST', '', { name: 'passing', base_url: other.apiUrl, api_key: key })
    case 2:
      return request('PATCH', '/changing', {
        timeouts: { idle_ms: 60_000 + round },
        headers: { 'x-round': String(round) },
      })
    default:
      return request('DELETE', '/passing')
  }
}

/** Requests that begin after the change was answered use it, in every process. */
async function expectKeyOf(key: string): Promise<void> {
  for (const from of [gateway, second]) {
    const marker = `${key} at ${from.baseUrl}`
    const messages = [{ role: 'user', content: marker }]
    const answer = await from.request('POST', CHAT, { body: chatBody({ model: 'changed-model', messages }) })
    expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'changing'])
    const sent = other.requests.findLast(({ text }) => text.includes(marker))
    expect(sent?.headers['authorization']).toBe(`Bearer ${key}`)
  }
}

test('a stream that began before its provider was removed ends as usual', async () => {
  await request('DELETE', '/changing')
  await request('POST', '', { name: 'changing', base_url: other.apiUrl, api_key: 'key-of-a-stream-0123' })
  const { promise: removed, resolve: goOn } = Promise.withResolvers<void>()
  const event = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  const rest = async function* () {
    await removed
    yield event('end')
    yield `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })}\n\ndata: [DONE]\n\n`
  }
  other.respondWith({
    headers: { 'content-type': 'text/event-stream' },
    chunks: [event('begin ')],
    more: rest(),
  })
  const response = await second.fetch('POST', CHAT, {
    body: chatBody({ model: 'changed-model', stream: true }),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await reader?.read())?.value ?? ''
  await request('DELETE', '/changing')
  goOn()
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value
  expect(text).toContain('"end"')
  expect(text).toContain('[DONE]')
  other.respondWith(completion())
  const next = await second.request('POST', CHAT, { body: chatBody({ model: 'changed-model' }) })
  expect(next.headers.get('x-gateway-provider')).toBe('openai')
})
