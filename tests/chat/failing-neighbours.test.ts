import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { completion, failure, type Reply } from '../upstreams/openai-server.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway
let careless: string
let careful: string
let other: string

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [
      modelEntry('alone', [{ provider: 'together', model: 'alone' }]),
      modelEntry('sibling', [{ provider: 'together', model: 'sibling' }]),
      modelEntry('dying', [{ provider: 'together', model: 'dying' }]),
      modelEntry('with-fallback', [
        { provider: 'together', model: 'with-fallback', priority: 0 },
        { provider: 'vllm', model: 'with-fallback', priority: 1 },
      ]),
      modelEntry('failing-with-fallback', [
        { provider: 'together', model: 'failing-with-fallback', priority: 0 },
        { provider: 'vllm', model: 'failing-with-fallback', priority: 1 },
      ]),
      modelEntry('refusing', [
        { provider: 'together', model: 'refusing', priority: 0 },
        { provider: 'vllm', model: 'refusing', priority: 1 },
      ]),
    ],
    providers: ['together', 'vllm'],
  })
  const open = async (name: string) => (await createAccountKey(gateway, { name, credit_usd: 5 })).key
  careless = await open('careless')
  careful = await open('careful')
  other = await open('other')
})

afterAll(() => gateway.close())

/** Makes prompts that contain the word fail at Together, like prompts that crash an upstream. */
function failOn(word: string, reply: Reply = failure(500)): void {
  gateway.upstream.respondWith(async ({ body, path }) => {
    const isHit = path.startsWith('/together/') && JSON.stringify(body).includes(word)
    return isHit && typeof reply !== 'function' ? reply : completion()
  })
}

const ask = (key: string, model: string, content: string) =>
  gateway.request('POST', CHAT, { key, body: chatBody({ model, messages: [{ role: 'user', content }] }) })

async function askOften(times: number, key: string, model: string, content: string): Promise<number[]> {
  const statuses: number[] = []
  for (let count = 0; count < times; count += 1) statuses.push((await ask(key, model, content)).status)
  return statuses
}

const providersAsked = () => gateway.upstream.requests.map(({ path }) => path.split('/')[1])

describe('failing prompts of one account', () => {
  test('do not block other accounts from the only route of the model, nor from the provider', async () => {
    failOn('poison')
    expect(new Set(await askOften(8, careless, 'alone', 'poison'))).toEqual(new Set([502]))
    expect(new Set(await askOften(75, careful, 'alone', 'hello'))).toEqual(new Set([200]))
    expect(new Set(await askOften(5, careful, 'sibling', 'hello'))).toEqual(new Set([200]))
  })

  test('move only that account to the fallback route', async () => {
    failOn('poison')
    await askOften(8, careless, 'with-fallback', 'poison')
    gateway.upstream.requests.length = 0
    expect(new Set(await askOften(10, careful, 'with-fallback', 'hello'))).toEqual(new Set([200]))
    expect(new Set(providersAsked())).toEqual(new Set(['together']))
    gateway.upstream.requests.length = 0
    expect((await ask(careless, 'with-fallback', 'hello')).status).toBe(200)
    expect(providersAsked()).toEqual(['vllm'])
  })
})

describe('an upstream that fails for several accounts', () => {
  test('is skipped if there is another, and still called if there is none', async () => {
    failOn('')
    await askOften(4, careful, 'failing-with-fallback', 'hello')
    await askOften(4, other, 'failing-with-fallback', 'hello')
    gateway.upstream.requests.length = 0
    expect((await ask(other, 'failing-with-fallback', 'hello')).status).toBe(200)
    expect(providersAsked()).toEqual(['vllm'])

    await askOften(4, careful, 'dying', 'hello')
    await askOften(4, other, 'dying', 'hello')
    gateway.upstream.requests.length = 0
    expect((await ask(other, 'dying', 'hello')).status).toBe(502)
    expect(providersAsked()).toEqual(['together'])
    failOn('nothing at all')
    expect(new Set(await askOften(20, careful, 'dying', 'hello'))).toEqual(new Set([200]))
  })
})

test('refusals and throttling are not counted as failures', async () => {
  const model = 'refusing'
  for (const status of [400, 401, 404, 429, 529]) {
    gateway.upstream.respondWith(async ({ path }) =>
      path.startsWith('/together/') ? failure(status, {}, { 'retry-after': '60' }) : completion(),
    )
    for (const key of [careful, other]) await askOften(4, key, model, `refused with ${status}`)
  }
  failOn('nothing at all')
  gateway.upstream.requests.length = 0
  for (const key of [careful, other]) expect((await ask(key, model, 'hello')).status).toBe(200)
  expect(providersAsked()).toEqual(['together', 'together'])
})
