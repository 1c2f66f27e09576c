import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { describePicture, download } from './pictures.ts'
import { waitForTask } from './wait-for-task.ts'

const PATH = '/v1/images/generations'
const AT_ONCE = { model: 'gpt-image-1.5', prompt: 'A red cube', response_format: 'url' }
const TAKES_TIME = { model: 'flux-schnell', prompt: 'A red cube' }

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

const post = (body: unknown, headers: Record<string, string> = {}) =>
  gateway.request('POST', PATH, { body, headers })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body.balance_usd

describe('an image of a model that answers directly', () => {
  test('is an address that needs no key, of the requested size', async () => {
    const { status, body, headers } = await post({ ...AT_ONCE, size: '1024x1536', seed: 7 })
    expect(status).toBe(200)
    expect(body).toEqual({
      created: expect.any(Number),
      data: [expect.objectContaining({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/media\//) })],
      usage: { images: 1, cost_usd: 0.06 },
    })
    const { bytes, contentType } = await download(body.data[0].url)
    expect([contentType, await describePicture(bytes)]).toEqual(['image/png', 'png 1024x1536'])
    expect(headers.get('x-gateway-cost-usd')).toBe('0.06')
    expect(headers.get('x-gateway-provider')).toBe('sandbox')
    expect(headers.get('x-gateway-balance-usd')).not.toBeNull()
  })

  test('is in the answer itself with b64_json, in the requested format', async () => {
    const asked = { ...AT_ONCE, response_format: 'b64_json', output_format: 'webp', size: '1024x1024' }
    const { body } = await post(asked)
    const [{ b64_json: inline, url }] = body.data
    expect(url).toBeUndefined()
    expect(await describePicture(Buffer.from(inline, 'base64'))).toBe('webp 1024x1024')
  })

  test('costs by number, size and quality', async () => {
    const { body } = await post({ ...AT_ONCE, n: 2, size: '1024x1536', quality: 'high' })
    expect(body.data).toHaveLength(2)
    expect(body.usage).toEqual({ images: 2, cost_usd: 0.48 })
  })

  test('becomes a task with Prefer: respond-async', async () => {
    const { status, body, headers } = await post(AT_ONCE, { prefer: 'respond-async' })
    expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async'])
    const task = await waitForTask(gateway, body.task_id)
    expect([task.status, task.cost_usd, task.usage]).toEqual([
      'completed',
      0.04,
      { images: 1, cost_usd: 0.04 },
    ])
  })

  test('is free if the upstream fails', async () => {
    const before = await balance()
    const { status, body } = await post({ ...AT_ONCE, prompt: '[[sandbox:error status=500]] A cube' })
    expect([status, body.error.code, body.error.type]).toEqual([500, 'provider_error', 'upstream_error'])
    expect(await balance()).toBe(before)
  })

  test('is refused in the upstream’s words if the request is at fault', async () => {
    const { status, body } = await post({ ...AT_ONCE, prompt: '[[sandbox:error status=400]] A cube' })
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
  })

  test('is made after one failure of an upstream', async () => {
    const { status } = await post({ ...AT_ONCE, prompt: '[[sandbox:error status=503 times=1]] A cube' })
    expect(status).toBe(200)
  })
})

describe('an image of an asynchronous model', () => {
  test('is a task, and its result is stored by the gateway', async () => {
    const { status, body, headers } = await post({ ...TAKES_TIME, metadata: { order: 7 } })
    expect(status).toBe(202)
    expect(body).toEqual({
      task_id: expect.any(String),
      id: body.task_id,
      status: 'pending',
      poll_url: `/v1/tasks/${body.task_id}`,
      model: 'flux-schnell',
      created_at: expect.stringMatching(/Z$/),
    })
    expect(headers.get('retry-after')).toBe('1')
    const task = await waitForTask(gateway, body.task_id)
    expect(task).toMatchObject({
      status: 'completed',
      task_type: 'image',
      progress: 100,
      usage: { images: 1, cost_usd: 0.003 },
      cost_usd: 0.003,
      metadata: { order: 7 },
      error: null,
    })
    const { bytes } = await download(task.result.data[0].url)
    expect(await describePicture(bytes)).toMatch(/^(png|jpeg) /)
  })

  test('is awaited with Prefer: wait, and then the answer has no task', async () => {
    const { status, body, headers } = await post(TAKES_TIME, { prefer: 'wait=30' })
    expect(status).toBe(200)
    expect(body).toEqual({
      created: expect.any(Number),
      data: [expect.objectContaining({ url: expect.any(String) })],
      usage: { images: 1, cost_usd: 0.003 },
    })
    expect(headers.get('x-gateway-cost-usd')).toBe('0.003')
  })

  test('is still a task if the wait is over first', async () => {
    const slow = { ...TAKES_TIME, prompt: '[[sandbox:latency ms=60000]] A cube' }
    const { status, body } = await post(slow, { prefer: 'wait=1' })
    expect(status).toBe(202)
    await gateway.request('POST', `${body.poll_url}/cancel`)
  })

  test('an image of an asynchronous model that fails is a task with an error, and is free', async () => {
    const before = await balance()
    const { body } = await post({ ...TAKES_TIME, prompt: '[[sandbox:error status=400]] A cube' })
    const task = await waitForTask(gateway, body.task_id)
    expect([task.status, task.result, task.cost_usd]).toEqual(['failed', null, 0])
    expect(task.error.message).toMatch(/.+/)
    expect(await balance()).toBe(before)
  })

  test('is not visible to another account', async () => {
    const { body } = await post(TAKES_TIME)
    const { key } = await createAccountKey(gateway, { name: 'other', credit_usd: 1 })
    expectEnvelope(await gateway.request('GET', body.poll_url, { key }), 404, { code: 'not_found' })
    const cancelled = await gateway.request('POST', `${body.poll_url}/cancel`, { key })
    expectEnvelope(cancelled, 404, { code: 'not_found' })
    expect((await gateway.request('GET', '/v1/tasks', { key })).body.data).toEqual([])
    expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
  })
})

describe('a request for an image', () => {
  test.each<[string, object, object]>([
    ['without a prompt', { model: 'flux-dev' }, { code: 'missing_required_parameter', param: 'prompt' }],
    ['with an empty prompt', { ...AT_ONCE, prompt: '' }, { code: 'invalid_value', param: 'prompt' }],
    ['for no image', { ...AT_ONCE, n: 0 }, { code: 'invalid_value', param: 'n' }],
    ['for eleven images', { ...AT_ONCE, n: 11 }, { code: 'invalid_value', param: 'n' }],
    ['of a size that is none', { ...AT_ONCE, size: 'large' }, { code: 'invalid_value', param: 'size' }],
    ['of a size the model has not', { ...AT_ONCE, size: '64x64' }, { code: 'invalid_value', param: 'size' }],
    ['of no quality', { ...AT_ONCE, quality: 'hd' }, { code: 'invalid_value', param: 'quality' }],
    [
      'in no known form',
      { ...AT_ONCE, response_format: 'png' },
      { code: 'invalid_value', param: 'response_format' },
    ],
    [
      'with a webhook that is no address',
      { ...TAKES_TIME, webhook_url: 'ftp://x' },
      { code: 'invalid_value', param: 'webhook_url' },
    ],
    ['of a language model', { ...AT_ONCE, model: 'gpt-5.4' }, { code: 'invalid_value', param: 'model' }],
  ])('%s is 400', async (_, body, error) => {
    expectEnvelope(await post(body), 400, error)
  })

  test('with an unknown model is 404', async () => {
    expectEnvelope(await post({ ...AT_ONCE, model: 'nobody' }), 404, {
      code: 'model_not_found',
      param: 'model',
    })
  })

  test('is refused with the allowed sizes', async () => {
    const { body } = await post({ ...AT_ONCE, size: '64x64' })
    expect(body.error.message).toContain('1024x1024, 1024x1536, 1536x1024')
  })

  test('ignores unknown members', async () => {
    const { status } = await post({ ...AT_ONCE, moderation: 'low', user: 'u1', stream: false })
    expect(status).toBe(200)
  })

  test('with a live key is 503 if no provider is configured', async () => {
    const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { env: 'live' } })
    for (const model of ['gpt-image-1.5', 'flux-schnell']) {
      const answer = await gateway.request('POST', PATH, { key: body.key, body: { ...AT_ONCE, model } })
      expect([answer.status, answer.body.error.code]).toEqual([503, 'provider_not_configured'])
    }
  })

  test('may be repeated with its idempotency key, and makes one image and one task', async () => {
    for (const body of [AT_ONCE, TAKES_TIME]) {
      const headers = { 'idempotency-key': `once-${body.model}` }
      const [first, again] = [await post(body, headers), await post(body, headers)]
      expect([again.status, again.body]).toEqual([first.status, first.body])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
    }
    const { body: tasks } = await gateway.request('GET', '/v1/tasks?model=flux-schnell&limit=1')
    const before = tasks.total
    await post(TAKES_TIME, { 'idempotency-key': 'once-flux-schnell' })
    expect((await gateway.request('GET', '/v1/tasks?model=flux-schnell&limit=1')).body.total).toBe(before)
  })
})
