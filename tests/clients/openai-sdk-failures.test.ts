import OpenAI, {
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createAccountKey, createKey } from './create-key.ts'
import { createRecordingFetch } from './recording-fetch.ts'

const MODEL = 'gpt-4o-mini'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
})

const ask = (content: string, model = MODEL) => ({ model, messages: [{ role: 'user' as const, content }] })

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('expected the call to fail')
    },
    (error: unknown) => error,
  )
}

describe('an error has the matching class of the OpenAI SDK', () => {
  const expectError = async (
    call: PromiseLike<unknown>,
    kind: new (...input: never) => APIError,
    expected: Record<string, unknown>,
  ) => {
    const error = await errorOf(call)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ requestID: expect.stringMatching(/^req_/), ...expected })
    if (!(error instanceof APIError)) return
    expect(error.error).toMatchObject({ request_id: error.requestID })
    expect(error.message).toMatch(new RegExp(`^${error.status} .{10,}`))
  }

  test('400 for a value out of range, naming the parameter', async () => {
    await expectError(client.chat.completions.create({ ...ask('Hi'), temperature: 9 }), BadRequestError, {
      status: 400,
      code: 'invalid_value',
      param: 'temperature',
      type: 'invalid_request_error',
    })
  })

  test('400 for a message of the wrong shape, naming its place', async () => {
    const nobody: object = { role: 'nobody', content: 'Hi' }
    const { messages } = ask('Hi')
    await expectError(
      client.chat.completions.create({ model: MODEL, messages: [...messages, nobody as never] }),
      BadRequestError,
      { status: 400, code: 'invalid_value', param: 'messages.1.role', type: 'invalid_request_error' },
    )
  })

  test('400 for a refusal of the provider, in its words', async () => {
    await expectError(client.chat.completions.create(ask('[[sandbox:error status=400]]')), BadRequestError, {
      status: 400,
      code: 'invalid_request',
      message: expect.stringContaining('told to answer 400'),
    })
  })

  test('401 for an unknown key', async () => {
    const stranger = client.withOptions({ apiKey: 'pk-dev-NobodyNobodyNobodyNobodyNobodyNobody' })
    const expected = { status: 401, code: 'invalid_api_key', type: 'authentication_error' }
    await expectError(stranger.models.list(), AuthenticationError, expected)
    await expectError(stranger.chat.completions.create(ask('Hi')), AuthenticationError, expected)
  })

  test('403 for a model the key may not use', async () => {
    const apiKey = await createKey(gateway, { allowed_models: ['gpt-5.4'] })
    await expectError(
      client.withOptions({ apiKey }).chat.completions.create(ask('Hi')),
      PermissionDeniedError,
      { status: 403, code: 'model_not_allowed', param: 'model', type: 'permission_error' },
    )
  })

  test('404 for an unknown model and for an unknown route', async () => {
    const expected = { status: 404, code: 'model_not_found', param: 'model', type: 'invalid_request_error' }
    await expectError(client.chat.completions.create(ask('Hi', 'no-such')), NotFoundError, expected)
    await expectError(client.completions.create({ model: 'no-such', prompt: 'Hi' }), NotFoundError, expected)
    await expectError(client.models.retrieve('no/such'), NotFoundError, expected)
    await expectError(client.get('/no/such/route'), NotFoundError, { status: 404, code: 'not_found' })
  })

  test('429 for too many requests', async () => {
    const apiKey = await createKey(gateway, { requests_per_minute: 1 })
    const limited = client.withOptions({ apiKey })
    const { response } = await limited.chat.completions.create(ask('Hi')).withResponse()
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    await expectError(limited.chat.completions.create(ask('Hi')), RateLimitError, {
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    })
  })

  test.each([
    [502, 'provider_error', 'upstream_error', '[[sandbox:html status=500]]'],
    [502, 'provider_error', 'upstream_error', '[[sandbox:garbage]]'],
  ])('%i %s for a provider that fails', async (status, code, type, directive) => {
    await expectError(client.chat.completions.create(ask(directive)), InternalServerError, {
      status,
      code,
      type,
    })
  })

  test('429 rate_limit_exceeded for a provider that limits the rate', async () => {
    const limited = client.chat.completions.create(ask('[[sandbox:error status=429 retry_after=60]]'))
    await expectError(limited, RateLimitError, {
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    })
  })

  test('503 when no provider of a model is configured and the key is a live one', async () => {
    const apiKey = await createKey(gateway, { env: 'live' })
    await expectError(
      client.withOptions({ apiKey }).chat.completions.create(ask('Hi')),
      InternalServerError,
      { status: 503, code: 'provider_not_configured' },
    )
  })

  test('before the first byte of a stream it has its status, like any other', async () => {
    await expectError(
      client.chat.completions.create({ ...ask('[[sandbox:error status=400]]'), stream: true }),
      BadRequestError,
      { status: 400, code: 'invalid_request' },
    )
  })

  test.each(['[[sandbox:cut after=3]]', '[[sandbox:garbage after=3]]', '[[sandbox:error-body after=3]]'])(
    'mid-stream it ends the iteration with the error of the frame: %s',
    async (directive) => {
      const stream = await client.chat.completions.create({ ...ask(`${directive} Hi`), stream: true })
      const pieces: string[] = []
      const reading = (async () => {
        for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '')
      })()
      expect(await errorOf(reading)).toMatchObject({ code: 'provider_error', type: 'upstream_error' })
      expect(pieces.join('')).not.toBe('')
    },
  )

  test('mid-stream it reaches the helper too', async () => {
    const stream = client.chat.completions.stream(ask('[[sandbox:cut after=3]] Hi'))
    const error = await errorOf(stream.finalChatCompletion())
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'provider_error' })
  })
})

describe('retries of the OpenAI SDK', () => {
  test('a 429 is retried after its retry-after, and then succeeds', async () => {
    const apiKey = await createKey(gateway, { requests_per_minute: 60 })
    const { call, recording } = await firstLimitedCall(apiKey)
    const completion = await call
    expect(completion.choices[0]?.message.content).toBe('Hello')
    expect(recording.statuses()).toEqual([429, 200])
    const [refused, admitted] = recording.exchanges
    const retryAfterSeconds = Number(refused?.headers.get('retry-after'))
    expect(retryAfterSeconds).toBe(1)
    const waitedMs = Number(admitted?.sentMs) - Number(refused?.sentMs)
    expect(waitedMs).toBeGreaterThanOrEqual(retryAfterSeconds * 1000)
  })

  /** Sends calls until the rate limit of the key refuses one, and returns that call. */
  async function firstLimitedCall(apiKey: string) {
    for (let used = 0; used < 1000; used += 1) {
      const recording = createRecordingFetch()
      const limited = client.withOptions({ apiKey, maxRetries: 2, fetch: recording.fetch })
      const call = limited.chat.completions.create(ask('[[sandbox:echo Hello]]'))
      await call
      if (recording.statuses().includes(429)) return { call, recording }
    }
    throw new Error('no call was refused')
  }

  test('a 402 is not retried: one request reaches the gateway', async () => {
    const { key: apiKey } = await createAccountKey(gateway, { name: 'Penniless', credit_usd: 0 })
    const recording = createRecordingFetch()
    const penniless = client.withOptions({ apiKey, maxRetries: 5, fetch: recording.fetch })
    const refusalsBefore = await countRefusals()
    const error = await errorOf(penniless.chat.completions.create(ask('Hi')))
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status: 402, code: 'insufficient_balance', type: 'billing_error' })
    expect(recording.statuses()).toEqual([402])
    expect(recording.exchanges[0]?.headers.get('x-should-retry')).toBe('false')
    expect(await countRefusals()).toBe(refusalsBefore + 1)
  })

  async function countRefusals(): Promise<number> {
    const { body } = await gateway.request('GET', '/metrics')
    const lines = String(body)
      .split('\n')
      .filter((line) => line.startsWith('parkway_requests_total') && line.includes('status="402"'))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  test('a provider without capacity is called again after the time it named', async () => {
    const recording = createRecordingFetch()
    const patient = client.withOptions({ maxRetries: 2, fetch: recording.fetch })
    // The gateway makes three attempts before it returns the 429 to the client.
    const directive = '[[sandbox:error status=429 times=3 key=patience]][[sandbox:echo Hello]]'
    const completion = await patient.chat.completions.create(ask(directive))
    expect(completion.choices[0]?.message.content).toBe('Hello')
    expect(recording.statuses()).toEqual([429, 200])
  })

  test.each([
    [400, '[[sandbox:error status=400]]'],
    [404, 'no-such-model'],
  ])('a %i is not retried', async (status, what) => {
    const recording = createRecordingFetch()
    const eager = client.withOptions({ maxRetries: 5, fetch: recording.fetch })
    const request = status === 404 ? ask('Hi', what) : ask(what)
    await errorOf(eager.chat.completions.create(request))
    expect(recording.statuses()).toEqual([status])
  })
})

describe('a client that disconnects', () => {
  const ENDLESS = '[[sandbox:endless]] Hi'

  async function disconnects(): Promise<number> {
    const { body } = await gateway.request('GET', '/metrics')
    const lines = String(body)
      .split('\n')
      .filter((line) => line.startsWith('parkway_client_disconnects_total'))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  test('stops the stream when it leaves the loop', async () => {
    const before = await disconnects()
    const stream = await client.chat.completions.create({ ...ask(ENDLESS), stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    expect(stream.controller.signal.aborted).toBe(true)
    await expect.poll(disconnects).toBe(before + 1)
  })

  test('stops the stream through its own signal', async () => {
    const before = await disconnects()
    const controller = new AbortController()
    const stream = client.chat.completions.stream(ask(ENDLESS), { signal: controller.signal })
    stream.on('content', () => controller.abort())
    expect(await errorOf(stream.done())).toBeInstanceOf(APIUserAbortError)
    await expect.poll(disconnects).toBe(before + 1)
  })

  test('stops an answer it no longer waits for, without an error', async () => {
    const before = await disconnects()
    const call = client.chat.completions.create(ask('[[sandbox:latency ms=60000]] Hi'), { timeout: 1_000 })
    expect(await errorOf(call)).toBeInstanceOf(APIConnectionTimeoutError)
    await expect.poll(disconnects).toBe(before + 1)
  })
})
