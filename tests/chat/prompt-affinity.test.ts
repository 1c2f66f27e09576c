import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion, failure } from '../upstreams/openai-server.ts'
import { modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('two-routes', [
        { provider: 'vllm', model: 'm', priority: 0 },
        { provider: 'ollama', model: 'm', priority: 0 },
      ]),
      modelEntry('two-keys', [{ provider: 'openai', model: 'm' }]),
      modelEntry('throttled-key', [{ provider: 'together', model: 'm' }]),
    ],
    providers: ['vllm', 'ollama', 'together'],
    settings: { OPENAI_API_KEY: 'key-one,key-two', TOGETHER_API_KEY: 'key-one,key-two' },
  })
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const LONG = 'You are a careful assistant. '.repeat(60)
const WIRES = {
  chat: (text: string) => ['/v1/chat/completions', { messages: [{ role: 'user', content: text }] }] as const,
  messages: (text: string) =>
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: text }] }] as const,
  responses: (text: string) => ['/v1/responses', { input: text }] as const,
}

interface Asked {
  readonly wire?: keyof typeof WIRES
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly members?: object
}

/** Sends a request and returns the path and the key with which it reached the upstream. */
async function placeOf(
  model: string,
  { wire = 'chat', text = 'Hi', headers = {}, members = {} }: Asked,
): Promise<string> {
  const before = gateway.upstream.requests.length
  const [path, body] = WIRES[wire](text)
  const answer = await gateway.request('POST', path, { body: { model, ...body, ...members }, headers })
  expect(answer.status).toBe(200)
  const sent = gateway.upstream.requests.slice(before).at(-1)
  const provider = sent?.path.split('/')[1] ?? ''
  return `${provider} ${String(sent?.headers['authorization'])}`
}

const session = (id: string) => ({ headers: { 'x-claude-code-session-id': id } })
const HINTS: readonly [string, (id: string) => Asked][] = [
  ['prompt_cache_key', (id) => ({ members: { prompt_cache_key: id } })],
  ['the session of Claude Code', (id) => ({ wire: 'messages', ...session(id) })],
  ['user', (id) => ({ members: { user: id } })],
  ['metadata.user_id of Messages', (id) => ({ wire: 'messages', members: { metadata: { user_id: id } } })],
  ['prompt_cache_key of Responses', (id) => ({ wire: 'responses', members: { prompt_cache_key: id } })],
  ['the first message', (id) => ({ text: `${id} ${LONG}` })],
]

describe.each(['two-routes', 'two-keys'])('requests that share a prompt, with %s', (model) => {
  test.each(HINTS)('use the same place again, by %s', async (_name, hint) => {
    const places = new Set<string>()
    // Repeats until both places were used. The chance that 60 conversations all use the same one is negligible.
    for (let id = 0; id < 4 || (places.size < 2 && id < 60); id += 1) {
      const asked = hint(`conversation ${id}`)
      const place = await placeOf(model, asked)
      for (let turn = 0; turn < 2; turn += 1) expect(await placeOf(model, asked)).toBe(place)
      places.add(place)
    }
    expect(places.size).toBe(2)
  })

  test('are distributed if they are too short for any cache', async () => {
    const places = new Set<string>()
    for (let turn = 0; turn < 40; turn += 1) places.add(await placeOf(model, {}))
    expect(places.size).toBe(2)
  })
})

test('a prompt whose key is throttled moves to the other key and is still answered', async () => {
  const asked = { members: { prompt_cache_key: 'throttled' } }
  const own = await placeOf('throttled-key', asked)
  gateway.upstream.respondWith(async ({ headers }) =>
    own.endsWith(String(headers['authorization'])) ? failure(429) : completion(),
  )
  const other = await placeOf('throttled-key', asked)
  expect(other).not.toBe(own)
  gateway.upstream.respondWith(completion())
  // The second key stays in use while the first one is paused after its 429.
  expect(await placeOf('throttled-key', asked)).toBe(other)
})

test('a prompt whose route fails is answered by the other route, and returns later', async () => {
  const asked = { members: { prompt_cache_key: 'broken' } }
  const own = await placeOf('two-routes', asked)
  const [provider = ''] = own.split(' ')
  gateway.upstream.respondWith(async ({ path }) =>
    path.startsWith(`/${provider}/`) ? failure(500) : completion(),
  )
  expect(await placeOf('two-routes', asked)).not.toBe(own)
  gateway.upstream.respondWith(completion())
  expect(await placeOf('two-routes', asked)).toBe(own)
})
