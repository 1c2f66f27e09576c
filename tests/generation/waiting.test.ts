import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { describePicture, download, paintPng } from './pictures.ts'

const IMAGES = '/v1/images/generations'
const TASK_MODEL = { model: 'flux-schnell', prompt: 'A red cube' }
const AT_ONCE_MODEL = { model: 'gpt-image-1.5', prompt: 'A red cube' }
const OPENAI_SDK = { 'x-stainless-lang': 'js' }
const AI_SDK = { 'user-agent': 'ai/7.0.169 ai-sdk/openai-compatible/3.0.90 runtime/node.js/24' }
const PLAIN = { 'user-agent': 'curl/8.5.0' }

const gateways = new Map<string, TestGateway>()

beforeAll(async () => {
  for (const wait of ['auto', 'always', 'never'])
    gateways.set(wait, await startTestGateway({ settings: { PARKWAY_IMAGE_WAIT: wait } }))
})

afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.close()
})

function gatewayOf(wait: string): TestGateway {
  const gateway = gateways.get(wait)
  if (!gateway) throw new Error(`there is no gateway that waits ${wait}`)
  return gateway
}

const post = (wait: string, headers: Record<string, string>, body: unknown, path = IMAGES) =>
  gatewayOf(wait).request('POST', path, { body, headers })

describe('an image of an asynchronous model without Prefer', () => {
  test.each<[string, string, Record<string, string>, number]>([
    ['auto', 'OpenAI SDK', OPENAI_SDK, 200],
    ['auto', 'AI SDK', AI_SDK, 200],
    ['auto', 'client that can poll', PLAIN, 202],
    ['always', 'client that can poll', PLAIN, 200],
    ['always', 'OpenAI SDK', OPENAI_SDK, 200],
    ['never', 'OpenAI SDK', OPENAI_SDK, 202],
    ['never', 'AI SDK', AI_SDK, 202],
  ])('follows PARKWAY_IMAGE_WAIT=%s for a request of an %s', async (wait, _, headers, status) => {
    const answer = await post(wait, headers, TASK_MODEL)
    expect(answer.status).toBe(status)
    expect(answer.body.task_id === undefined).toBe(status === 200)
  })
})

describe('Prefer', () => {
  test.each(['auto', 'always', 'never'])('overrides the setting %s', async (wait) => {
    for (const client of [OPENAI_SDK, PLAIN]) {
      const waited = await post(wait, { ...client, prefer: 'wait=60' }, TASK_MODEL)
      const polled = await post(wait, { ...client, prefer: 'respond-async' }, TASK_MODEL)
      expect([waited.status, polled.status]).toEqual([200, 202])
    }
  })

  test('wait=0 is a task at once, also for a client that cannot poll', async () => {
    expect((await post('auto', { ...OPENAI_SDK, prefer: 'wait=0' }, TASK_MODEL)).status).toBe(202)
    expect((await post('always', { ...PLAIN, prefer: 'wait=0' }, TASK_MODEL)).status).toBe(202)
  })
})

describe('an image that was awaited', () => {
  test('is counted once in the spend of the metrics, by its worker', async () => {
    const gateway = gatewayOf('auto')
    const read = async () => String((await gateway.request('GET', '/metrics', { key: null })).body)
    const { status, body: answer } = await post('auto', OPENAI_SDK, { model: 'recraft-v3', prompt: 'A cube' })
    expect([status, answer.usage.cost_usd > 0]).toEqual([200, true])
    const spent = [...(await read()).matchAll(/^parkway_spend_usd_total\{model="recraft-v3",.*\} (\S+)$/gm)]
    expect(spent.reduce((sum, [, value]) => sum + Number(value), 0)).toBeCloseTo(answer.usage.cost_usd, 9)
  })

  test('is in the answer with b64_json, on every route', async () => {
    const image = `data:image/png;base64,${(await paintPng()).toString('base64')}`
    const asked = { response_format: 'b64_json' }
    for (const [path, body] of [
      [IMAGES, { ...TASK_MODEL, n: 2 }],
      ['/v1/images/edits', { model: 'flux-kontext-pro', prompt: 'x', image }],
      ['/v1/images/upscale', { image }],
      ['/v1/images/bg-remove', { image }],
    ] as const) {
      const { status, body: answer } = await post('auto', OPENAI_SDK, { ...body, ...asked }, path)
      expect([path, status, answer.data.length]).toEqual([path, 200, 'n' in body ? 2 : 1])
      for (const { b64_json: inline, url } of answer.data) {
        expect(url).toBeUndefined()
        expect(await describePicture(Buffer.from(inline, 'base64'))).toMatch(/^(png|jpeg|webp) /)
      }
      expect(answer.usage.cost_usd).toBeGreaterThan(0)
    }
  })

  test('is an address under the host the client used, in the answer and in the task', async () => {
    const { baseUrl, key } = gatewayOf('auto')
    const origin = baseUrl.replace('127.0.0.1', 'localhost')
    const headers = { ...OPENAI_SDK, 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const ask = async (path: string, body?: object): Promise<TestAnswer['body']> => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return (await fetch(origin + path, { headers, ...sent })).json()
    }
    const answer = await ask(IMAGES, { ...TASK_MODEL, response_format: 'url' })
    const [{ url, b64_json: inline }] = answer.data
    expect([new URL(url).origin, inline]).toEqual([origin, undefined])
    expect(await describePicture((await download(url)).bytes)).toMatch(/^(png|jpeg) /)
    const [task] = (await ask('/v1/tasks?limit=1')).data
    for (const read of [task, await ask(task.poll_url), await ask(`${task.poll_url}?wait=1`)])
      expect(new URL(read.result.data[0].url).origin).toBe(origin)
  })

  test('an image that was awaited that failed is an error and not a task, for a client that did not ask to wait', async () => {
    const failing = { ...TASK_MODEL, prompt: '[[sandbox:error status=400]] A cube' }
    const told = await post('auto', OPENAI_SDK, failing)
    expect([told.status, told.body.error?.message]).toEqual([400, expect.stringMatching(/.+/)])
    const asked = await post('auto', { prefer: 'wait=60' }, failing)
    expect([asked.status, asked.body.status]).toEqual([202, 'failed'])
  })
})

describe('the default format', () => {
  test('is b64_json for a gpt-image model, directly and for an awaited task', async () => {
    for (const headers of [{}, { prefer: 'respond-async, wait=60' }]) {
      const { status, body } = await post('auto', headers, AT_ONCE_MODEL)
      expect([status, Object.keys(body.data?.[0] ?? {})]).toEqual([200, expect.arrayContaining(['b64_json'])])
    }
    const tasks = await gatewayOf('auto').request('GET', '/v1/tasks?model=gpt-image-1.5')
    expect(tasks.body.data).toHaveLength(1)
  })

  test('is url for every other model', async () => {
    for (const model of ['dall-e-3', 'flux-schnell']) {
      const { status, body } = await post('auto', OPENAI_SDK, { model, prompt: 'A red cube' })
      expect([model, status, typeof body.data?.[0]?.url]).toEqual([model, 200, 'string'])
    }
  })
})
