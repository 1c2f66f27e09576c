import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PROVIDER_VARIABLES } from '../../src/app/settings/provider-settings.ts'
import type { VendorDescriptor } from '../../src/providers/vendor-descriptor.ts'
import { VENDORS } from '../../src/providers/vendors.ts'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { readEvents } from '../chat/read-events.ts'
import { chunksOf, completion, failure, json, stream, textCompletion } from '../upstreams/openai-server.ts'
import { answerOpenAiText } from '../upstreams/openai-text-wire.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedServer,
} from '../upstreams/scripted-server.ts'
import {
  chatModel,
  embeddingModel,
  startCloudGateway,
  type CloudGateway,
} from './clouds/start-cloud-gateway.ts'

/** Vendors that are called over OpenAI's wire with a key: each of them must behave as its descriptor says. */
const WIRED = VENDORS.filter(({ wire, signIn }) => wire !== undefined && signIn === undefined)
const CHATTING = WIRED.filter(({ wire }) => wire?.lacksChat !== true && wire?.defaultBaseUrl !== undefined)
const EMBEDDING = WIRED.filter(({ wire }) => wire?.operations?.includes('embedding') === true)
const UPSTREAM_MODEL = 'publisher/the-model'
const TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }
const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }

let server: ScriptedServer
let gateway: CloudGateway

/** The path of a vendor's own address, below a folder of the test's server that is the vendor's. */
function pathOf({ id, wire }: VendorDescriptor): string {
  const address = wire?.defaultBaseUrl ?? 'http://own/v1'
  return `/${id}${new URL(address.replaceAll(/[{}]/g, '')).pathname}`.replace(/\/$/, '')
}

/** Two keys of each vendor. */
const keysOf = (id: string): [string, string] => [`${id}-key-0123456789-a`, `${id}-key-0123456789-b`]

function answer(request: RecordedRequest) {
  const body = request.body as { stream?: boolean; tools?: unknown }
  if (request.path.endsWith('/embeddings')) return answerOpenAiText(request) ?? failure(404)
  if (request.path.endsWith('/chat/completions')) {
    if (body.stream === true) return stream(chunksOf('Hello', ' there'))
    return body.tools === undefined
      ? completion()
      : completion({ message: { content: null, tool_calls: [CALL] } })
  }
  return request.path.endsWith('/completions') ? textCompletion() : failure(404)
}

beforeAll(async () => {
  server = await startScriptedServer(answer)
  gateway = await startCloudGateway({
    models: [
      ...CHATTING.map(({ id }) => chatModel(`chat-${id}`, id, UPSTREAM_MODEL)),
      ...EMBEDDING.map(({ id }) => embeddingModel(`embedding-${id}`, id, UPSTREAM_MODEL)),
    ],
    settings: () => Object.assign({}, ...WIRED.map(settingsOf)),
  })
})
beforeEach(() => {
  server.requests.length = 0
  server.respondWith()
})
afterAll(async () => {
  await gateway.close()
  await server.close()
})

function settingsOf(vendor: VendorDescriptor): Record<string, string> {
  const variables = PROVIDER_VARIABLES.find(({ id }) => id === vendor.id)
  const [keys = '', address = ''] = [variables?.apiKey[0], variables?.baseUrl[0]]
  return { [keys]: keysOf(vendor.id).join(','), [address]: server.baseUrl + pathOf(vendor) }
}

const ask = (id: string, members: object = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model: `chat-${id}`, ...members }) })

test.each(VENDORS.flatMap(({ id, wire }) => (wire?.defaultBaseUrl ? [[id, wire.defaultBaseUrl]] : [])))(
  'the address of %s is complete and encrypted: %s',
  (_id, address) => {
    const { protocol, search, username } = new URL(address.replaceAll(/[{}]/g, ''))
    expect([protocol, search, username, address.endsWith('/')]).toEqual(['https:', '', '', false])
  },
)

describe.each(CHATTING.map((vendor) => [vendor.id, vendor] as const))('chat with %s', (id, vendor) => {
  const { outputLimitMember = 'max_tokens', lacksDeveloperRole, hasLegacyCompletion } = vendor.wire ?? {}

  test('is answered whole and billed, at the path and in the form of the vendor', async () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]
    const { status, body, headers } = await ask(id, { messages, max_tokens: 50 })
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, id])
    expect(body).toMatchObject({ model: `chat-${id}`, usage: { prompt_tokens: 11, cost_usd: 0.000025 } })
    const [request] = server.requests
    expect(request?.path).toBe(`${pathOf(vendor)}/chat/completions`)
    expect(keysOf(id)).toContain(request?.headers.authorization?.replace('Bearer ', ''))
    expect(request?.body).toMatchObject({
      model: UPSTREAM_MODEL,
      [outputLimitMember]: 50,
      messages: [{ role: lacksDeveloperRole === true ? 'system' : 'developer' }, { role: 'user' }],
    })
  })

  test('is streamed with its usage', async () => {
    const body = chatBody({ model: `chat-${id}`, stream: true, stream_options: { include_usage: true } })
    const events = await readEvents(await gateway.fetch('POST', CHAT, { body }))
    expect([events.content, events.isDone]).toEqual(['Hello there', true])
    expect(events.chunks.at(-1).usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 })
  })

  test('calls tools', async () => {
    const { body } = await ask(id, { tools: [TOOL] })
    expect(body.choices[0].message.tool_calls).toEqual([CALL])
    expect(server.requests[0]?.body).toMatchObject({ tools: [TOOL] })
  })

  test('is asked with the other key if one is throttled, and shows neither', async () => {
    server.respondWith(failure(429), answer)
    expect((await ask(id)).status).toBe(200)
    const used = server.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', ''))
    expect(new Set(used)).toEqual(new Set(keysOf(id)))
    const [first] = keysOf(id)
    server.respondWith(json({ error: { message: `Bad request with ${first}` } }, 400))
    const refused = await ask(id)
    expect([refused.status, JSON.stringify(refused.body).includes(first)]).toEqual([400, false])
  })

  test('continues a text where the vendor can, and otherwise by a chat', async () => {
    const body = { model: `chat-${id}`, prompt: 'Once upon a time', max_tokens: 9 }
    expect((await gateway.request('POST', '/v1/completions', { body })).status).toBe(200)
    const operation = hasLegacyCompletion === true ? 'completions' : 'chat/completions'
    expect(server.requests[0]?.path).toBe(`${pathOf(vendor)}/${operation}`)
  })
})

test.each(EMBEDDING.map((vendor) => [vendor.id, vendor] as const))('%s embeds', async (id, vendor) => {
  const body = { model: `embedding-${id}`, input: ['a', 'b'] }
  const answered = await gateway.request('POST', '/v1/embeddings', { body })
  expect([answered.status, answered.body.data.length]).toEqual([200, 2])
  expect(server.requests[0]).toMatchObject({
    path: `${pathOf(vendor)}/embeddings`,
    body: { model: UPSTREAM_MODEL },
  })
})
