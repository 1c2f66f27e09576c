import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunksOf, completion, stream, textCompletion } from '../upstreams/openai-server.ts'
import { addModel, askModel, MODELS } from './offered-model.ts'

const DAY_MS = 86_400_000
const inDays = (days: number) =>
  new Date(Math.floor((Date.now() + days * DAY_MS) / 1000) * 1000).toISOString()

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({ models: [modelEntry('heir', [{ provider: 'openai', model: 'm' }])] })
  gateway.upstream.respondWith(completion())
})
afterAll(() => gateway.close())

const ENDED = { deprecated_from: inDays(-9), shutdown_at: inDays(-1), successor: 'heir' }

test('answers of a deprecated model say so on every wire and in streams, and the list says when it ends', async () => {
  const [from, end] = [inDays(-2), inDays(30)]
  const added = await addModel(gateway, 'old', { deprecated_from: from, shutdown_at: end, successor: 'heir' })
  expect(added.status).toBe(201)
  const messages = [{ role: 'user', content: 'Hi' }]
  const told = {
    deprecation: `@${Date.parse(from) / 1000}`,
    sunset: new Date(end).toUTCString(),
    link: '</v1/models/heir>; rel="successor-version"',
  }
  for (const [path, body, reply] of [
    ['/v1/chat/completions', { messages }, completion()],
    ['/v1/chat/completions', { messages, stream: true }, stream(chunksOf('Hello'))],
    ['/v1/completions', { prompt: 'Hi' }, textCompletion()],
    ['/v1/messages', { messages, max_tokens: 5 }, completion()],
    ['/v1/messages', { messages, max_tokens: 5, stream: true }, stream(chunksOf('Hello'))],
    ['/v1/responses', { input: 'Hi' }, completion()],
    ['/v1/responses', { input: 'Hi', stream: true }, stream(chunksOf('Hello'))],
  ] as const) {
    gateway.upstream.respondWith(reply)
    const response = await gateway.fetch('POST', path, { body: { model: 'old', ...body } })
    expect([path, response.status, await response.text()]).toEqual([path, 200, expect.any(String)])
    const { headers } = response
    expect([path, Object.fromEntries(Object.keys(told).map((name) => [name, headers.get(name)]))]).toEqual([
      path,
      told,
    ])
  }
  gateway.upstream.respondWith(completion())
  expect((await gateway.request('GET', '/v1/models/old')).body.shutdown_date).toBe(end)
  const { headers } = await askModel(gateway, 'heir')
  expect([headers.get('deprecation'), headers.get('sunset'), headers.get('link')]).toEqual([null, null, null])
})

test('a model that has ended is not found, and the message names its successor', async () => {
  await addModel(gateway, 'ended', ENDED)
  for (const { status, body } of [
    await askModel(gateway, 'ended'),
    await gateway.request('GET', '/v1/models/ended'),
  ]) {
    expect([status, body.error.code]).toEqual([404, 'model_not_found'])
    expect(body.error.message).toBe("The model 'ended' has ended. Use 'heir' instead.")
  }
  const { body } = await gateway.request('GET', '/v1/models?include=all')
  expect(body.data.map(({ id }: { id: string }) => id)).not.toContain('ended')
  expect((await gateway.request('GET', `${MODELS}/ended`)).body).toMatchObject(ENDED)
})

test('the successor answers after the end where the operator says so', async () => {
  await addModel(gateway, 'passed-on', { ...ENDED, successor_answers: true })
  const answer = await askModel(gateway, 'passed-on')
  expect([answer.status, answer.headers.get('x-gateway-model')]).toEqual([200, 'heir'])
})

test('a model is not found before it is available', async () => {
  await addModel(gateway, 'tomorrow', { available_from: inDays(1) })
  expect((await askModel(gateway, 'tomorrow')).status).toBe(404)
  await gateway.request('PATCH', `${MODELS}/tomorrow`, { body: { available_from: null } })
  expect((await askModel(gateway, 'tomorrow')).status).toBe(200)
})

test.each([
  ['a day that is none', { shutdown_at: '2027-02-31' }],
  ['the year 275760', { shutdown_at: '+275760-09-13T00:00:00Z' }],
  ['an end before the deprecation', { deprecated_from: '2027-05-01', shutdown_at: '2027-04-01' }],
  ['a successor that should answer and is not named', { shutdown_at: '2027-04-01', successor_answers: true }],
])('a model with %s is refused', async (_, members) => {
  expect((await addModel(gateway, 'refused', members)).status).toBe(400)
})
