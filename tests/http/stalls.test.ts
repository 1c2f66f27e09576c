import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import { makeRun } from '../compare/wait-for-run.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { countStallsAbove } from './count-stalls.ts'

const CHAT = '/v1/chat/completions'
const MODEL = 'gpt-4o-mini'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

const user = (content: string) => ({ role: 'user', content })
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)
const format = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'x', schema } })
const list = (items: object) => format({ type: 'array', minItems: 1000, items })

/** Without limits, each of these blocks the process for five seconds to minutes. */
const HOSTILE: Record<string, object> = {
  'a class of a kilobyte': {
    response_format: list({ type: 'string', pattern: `[${'a-ÿ'.repeat(250)}]{1000}`, minLength: 5000 }),
  },
  'a long reference': { response_format: list({ $ref: `#${'/a'.repeat(100_000)}` }) },
  'a large enum': { response_format: list({ enum: names(20_000) }), tool_choice: 'none' },
  'long texts': { response_format: list({ type: 'string', minLength: 10_000 }) },
  'many choices': { n: 128, response_format: format({ type: 'object', properties: { a: { const: 1 } } }) },
  'alternatives of every token': {
    logprobs: true,
    top_logprobs: 20,
    messages: [user('[[sandbox:tokens n=60000]]')],
  },
  'arrows and exclamation marks': { messages: [user('→!'.repeat(100_000))] },
  'spaces of two kinds': { messages: [user(' \u00a0'.repeat(100_000))] },
  'an echo of them': { messages: [user(`[[sandbox:echo ${'→!'.repeat(20_000)}]]`)] },
}

// Much longer than the bounded work takes on a loaded machine, and shorter than any of these without limits.
const STALL_SECONDS = '5'

/** A machine that stands still delays one attempt. Work without limits delays each of them. */
const ATTEMPTS_MAX = 3

/** Whether other requests are delayed each time. */
async function isDelaying(work: () => Promise<void>): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const before = await countStallsAbove(gateway, STALL_SECONDS)
    await work()
    if ((await countStallsAbove(gateway, STALL_SECONDS)) === before) return false
  }
  return true
}

test.each(Object.entries(HOSTILE))('%s do not delay other requests', async (_, rest) => {
  const body = { model: MODEL, messages: [user('Hi')], ...rest }
  const ask = async (): Promise<void> => {
    const { status } = await gateway.request('POST', CHAT, { body })
    expect([200, 400]).toContain(status)
  }
  expect(await isDelaying(ask)).toBe(false)
})

test('answers that are expensive to compare do not delay other requests', async () => {
  const answer = (text: string) => `[[sandbox:echo ${text}]]`
  const nearly = 'a'.repeat(100_000)
  const compare = async (): Promise<void> => {
    const run = await makeRun(gateway, {
      models: [MODEL, 'gpt-4o'],
      prompts: [
        { prompt: answer(`\`\`\`json${'\n'.repeat(100_000)}x`), expected: { a: 1 } },
        { prompt: answer(nearly.repeat(4)), expected: { type: 'contains', value: `${nearly}b${nearly}` } },
        { prompt: answer('word '.repeat(40)), expected: { type: 'regex', value: '^(\\w+\\s?)*!$' } },
      ],
    })
    expect(run.status).toBe('completed')
  }
  expect(await isDelaying(compare)).toBe(false)
})

test('a blocked event loop is counted for the route in progress', async () => {
  const leaving = new AbortController()
  const hanging = gateway
    .fetch('POST', CHAT, {
      body: { model: MODEL, messages: [user('[[sandbox:hang]]')] },
      signal: leaving.signal,
    })
    .catch(() => null)
  await until(async () => {
    const { body } = await gateway.request('GET', '/metrics')
    return String(body).includes(`parkway_requests_in_flight{route="${CHAT}"} 1`) ? true : null
  })
  // Block the event loop, which the gateway shares with this test.
  const endMs = performance.now() + 600
  while (performance.now() < endMs);
  await until(async () => ((await countStallsAbove(gateway, '0.25', CHAT)) > 0 ? true : null))
  leaving.abort()
  await hanging
})
