import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const PROVIDERS = '/v1/admin/providers'

let other: OpenAiServer
let gateway: ChatGateway
let second: TestGateway

beforeAll(async () => {
  other = await startOpenAiServer(completion())
  const routes = [
    { provider: 'changing', model: 'm', priority: 0 },
    { provider: 'openai', model: 'm', priority: 1 },
  ]
  gateway = await startChatGateway({ models: [modelEntry('changed-model', routes)] })
  second = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: {
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

test('a stream that began before its provider was removed ends as usual', async () => {
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
