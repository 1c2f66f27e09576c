import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitForTask } from './generation/wait-for-task.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ mayAnswerAnything: true })
})

afterAll(() => gateway.close())

const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd
const chat = (content: string) => ({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content }] })

type Operation = readonly [name: string, path: string, body: (text: string) => object]

const OPERATIONS: readonly Operation[] = [
  ['chat', '/v1/chat/completions', chat],
  ['streamed chat', '/v1/chat/completions', (text) => ({ ...chat(text), stream: true })],
  ['completions', '/v1/completions', (prompt) => ({ model: 'gpt-5.4-mini', prompt })],
  ['embeddings', '/v1/embeddings', (input) => ({ model: 'text-embedding-3-small', input })],
  ['rerank', '/v1/rerank', (query) => ({ model: 'rerank-v3.5', query, documents: ['a', 'b'] })],
  ['moderation', '/v1/moderations', (input) => ({ model: 'omni-moderation-latest', input })],
  ['images', '/v1/images/generations', (prompt) => ({ model: 'gpt-image-1.5', prompt })],
  ['speech', '/v1/audio/speech', (input) => ({ model: 'tts-1', input, voice: 'alloy' })],
]

/** The gateway does not retry, because this delay is longer than it would wait. */
const AT_ONCE = 'retry_after=60'

describe.each(OPERATIONS)('a failure injected into %s', (_, path, body) => {
  test.each([
    ['status=418 code=teapot', 418, 'teapot', 'invalid_request_error'],
    ['status=404', 404, 'not_found', 'invalid_request_error'],
    ['status=429', 429, 'rate_limit_exceeded', 'rate_limit_error'],
    ['status=500 code=boom', 500, 'boom', 'upstream_error'],
    ['status=529', 529, 'rate_limit_exceeded', 'rate_limit_error'],
  ])('%s arrives as given and is free', async (options, status, code, type) => {
    const before = await balance()
    const directive = `[[sandbox:error ${options} ${AT_ONCE}]] Hi`
    const answer = await gateway.request('POST', path, { body: body(directive) })
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([status, code, type])
    expect(answer.headers.get('retry-after')).toBe('60')
    expect(await balance()).toBe(before)
  })
})

test.each([400, 401, 402, 403, 405, 408, 409, 410, 413, 422, 451, 499, 501, 502, 503, 504, 599])(
  'a status of %i arrives with the message of the sandbox',
  async (status) => {
    const body = chat(`[[sandbox:error status=${status} ${AT_ONCE}]] Hi`)
    const answer = await gateway.request('POST', '/v1/chat/completions', { body })
    expect([answer.status, answer.body.error.message]).toEqual([
      status,
      `The sandbox was told to answer ${status}.`,
    ])
  },
)

test('however often it fails, the model keeps answering', async () => {
  const failing = chat(`[[sandbox:error status=500 ${AT_ONCE}]] Hi`)
  for (let count = 0; count < 12; count += 1) {
    await gateway.request('POST', '/v1/chat/completions', { body: failing })
  }
  const { status } = await gateway.request('POST', '/v1/chat/completions', { body: chat('Hi') })
  expect(status).toBe(200)
})

test.each(['error status=451 code=withheld', 'job-fail percent=0 status=422 code=moderated'])(
  'a task that is told to fail has the given code: %s',
  async (directive) => {
    const prompt = `[[sandbox:${directive}]] Waves`
    const body = { model: 'wan-2.6-t2v', prompt, duration: 5 }
    const { body: made } = await gateway.request('POST', '/v1/videos/generations', { body })
    const { status, error, cost_usd: cost } = await waitForTask(gateway, made.task_id)
    expect([status, error.code, cost]).toEqual(['failed', directive.split('code=').at(-1), 0])
  },
)
