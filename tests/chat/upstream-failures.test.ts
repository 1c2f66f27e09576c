import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  chunksOf,
  completion,
  failure,
  htmlPage,
  json,
  notHttp,
  shortBody,
  stream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { readEvents } from './read-events.ts'
import { CHAT, chatBody, startChatGateway, UPSTREAM_KEY, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway()
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(async () => {
  // One good answer, so that no test inherits the failures that the circuit breaker has counted.
  gateway.upstream.respondWith(completion())
  expect((await gateway.request('POST', CHAT, { body: chatBody() })).status).toBe(200)
  gateway.upstream.requests.length = 0
})

const ENVELOPE = ['code', 'message', 'param', 'request_id', 'type']

async function fail(reply: Reply, members: object = {}) {
  gateway.upstream.respondWith(reply)
  const { status, body, headers } = await gateway.request('POST', CHAT, { body: chatBody(members) })
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error).toSorted()).toEqual(ENVELOPE)
  expect(body.error.request_id).toBe(headers.get('x-request-id'))
  expect(headers.get('x-gateway-cost-usd')).toBeNull()
  for (const secret of ['secret', '10.1.2.3', UPSTREAM_KEY, gateway.upstream.baseUrl, '<html>', ' at '])
    expect(body.error.message).not.toContain(secret)
  return { status, headers, error: body.error, attempts: gateway.upstream.requests.length }
}

const badChoices = (choices: unknown) => completion({ choices })
const PROVIDER_ERROR = { type: 'upstream_error', code: 'provider_error', param: null }

describe('before the first byte', () => {
  const failures: [string, Reply, Reply?][] = [
    ['an error status', failure(500)],
    ['an HTML error page', htmlPage(502)],
    ['an HTML page with status 200', htmlPage(200)],
    ['an error body with status 200', failure(200)],
    ['an error as text with status 200', json({ error: 'it broke' })],
    ['a bare message with status 200', json({ message: 'it broke' })],
    ['an empty body', json('')],
    ['half a JSON document', json('{"choices":[{"ind')],
    ['a JSON list', json([1])],
    ['choices of another shape', badChoices('none'), stream([chunk({ choices: 'none' })])],
    ['choices that are no objects', badChoices([null, 3]), stream([chunk({ choices: [3] })])],
    ['an object without choices', json({ hello: 1 }), stream([{ hello: 1 }])],
    ['no choice at all', badChoices([]), stream([])],
    ['a stream where none was asked for, or none where it was', stream(chunksOf('x')), completion()],
    ['a body shorter than it says', shortBody()],
    ['something that is not HTTP', notHttp],
    ['a connection that closes', { chunks: [], ending: 'cut' }],
    ['an error as the first event', failure(500), stream([{ error: { message: 'secret words' } }])],
    ['a redirect', json({}, 302, { location: 'http://10.1.2.3/' })],
    ['a stream of something else', failure(500), stream(['data: hello\n\n'])],
  ]
  test.each(failures)('502: %s', async (_name, reply) => {
    const { status, error } = await fail(reply)
    expect([status, error]).toEqual([502, expect.objectContaining(PROVIDER_ERROR)])
  })

  test.each(failures)('502 for a stream: %s', async (_name, reply, streamed = reply) => {
    const { status, error } = await fail(streamed, { stream: true })
    expect([status, error]).toEqual([502, expect.objectContaining(PROVIDER_ERROR)])
  })

  test.each([401, 403, 404])(
    '502: %i of the upstream is the gateway’s problem, and is not retried',
    async (code) => {
      const said = { message: `Incorrect API key provided: ${UPSTREAM_KEY}`, code: 'invalid_api_key' }
      const { status, error, attempts } = await fail(failure(code, said))
      expect([status, error]).toEqual([502, expect.objectContaining(PROVIDER_ERROR)])
      expect(attempts).toBe(1)
    },
  )

  test.each([429, 529])('429: %i is retried, then returned with the time to wait', async (code) => {
    const { status, error, headers, attempts } = await fail(failure(code, {}, { 'retry-after': '1' }))
    expect([status, error]).toEqual([
      429,
      expect.objectContaining({ type: 'rate_limit_error', code: 'rate_limit_exceeded' }),
    ])
    expect(headers.get('retry-after')).toBe('1')
    expect(attempts).toBe(3)
  })

  test.each([429, 529])('429: an upstream that asks for a long pause is not retried (%i)', async (code) => {
    const { status, headers, attempts } = await fail(failure(code, {}, { 'retry-after': '17' }))
    expect([status, headers.get('retry-after'), attempts]).toEqual([429, '17', 1])
  })

  test('503: the operator’s quota at the upstream is used up', async () => {
    const { status, error, headers } = await fail(failure(429, { code: 'insufficient_quota' }))
    expect([status, error.code, headers.get('retry-after')]).toEqual([503, 'capacity_exhausted', '2'])
  })

  test('the client does not see a temporary failure', async () => {
    gateway.upstream.respondWith(failure(429), failure(500), completion())
    const { status, body } = await gateway.request('POST', CHAT, { body: chatBody() })
    expect([status, body.choices[0].message.content]).toEqual([200, 'Hello there'])
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test('a stream that fails before its first chunk is retried', async () => {
    gateway.upstream.respondWith(stream([{ error: { message: 'busy' } }]), stream(chunksOf('Hello')))
    const response = await gateway.fetch('POST', CHAT, { body: chatBody({ stream: true }) })
    expect((await readEvents(response)).content).toBe('Hello')
  })

  test('a stream that has sent nothing for the client yet is retried', async () => {
    const silent = chunk({ choices: [], prompt_filter_results: [] })
    gateway.upstream.respondWith(stream([silent, { error: { message: 'busy' } }]), stream(chunksOf('Hello')))
    const response = await gateway.fetch('POST', CHAT, { body: chatBody({ stream: true }) })
    expect((await readEvents(response)).content).toBe('Hello')
  })
})

describe('when the request is at fault', () => {
  const refuse = async (status: number, said: Record<string, unknown>, members: object = {}) => {
    gateway.upstream.respondWith(failure(status, said))
    const answer = await gateway.request('POST', CHAT, { body: chatBody(members) })
    expect(gateway.upstream.requests).toHaveLength(1)
    return answer
  }

  test.each([false, true])('400: in the upstream’s words, with its param (stream: %s)', async (isStream) => {
    const said = {
      message: 'top_p is too hot',
      type: 'invalid_request_error',
      param: 'top_p',
      code: 'too_hot',
    }
    const { status, body } = await refuse(400, said, { stream: isStream })
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      message: 'top_p is too hot',
      type: 'invalid_request_error',
      param: 'top_p',
      code: 'invalid_request',
    })
  })

  test.each(['unsupported_parameter', 'invalid_value', 'missing_required_parameter'])(
    '400: a code of this wire is kept: %s',
    async (code) => {
      const { body } = await refuse(400, { message: 'no', param: 'n', code })
      expect(body.error).toMatchObject({ code, param: 'n' })
    },
  )

  test.each([
    [400, { message: 'too long', code: 'context_length_exceeded', param: 'messages' }],
    [400, { message: "This model's maximum context length is 128000 tokens.", code: 400 }],
    [422, { message: 'prompt is too long: 200001 tokens > 200000 maximum' }],
  ])('400: a context that is too long has its own code (%i %j)', async (upstreamStatus, said) => {
    const { status, body } = await refuse(upstreamStatus, said)
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'context_length_exceeded',
      said.message,
    ])
  })

  test('400: a prompt that the upstream blocks has its own code', async () => {
    const { status, body } = await refuse(400, { message: 'flagged', code: 'content_policy_violation' })
    expect([status, body.error.code]).toEqual([400, 'prompt_blocked'])
  })

  test('413: too large for the upstream', async () => {
    const { status, body } = await refuse(413, { message: 'too large' })
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
  })

  test('400: an error page without a reason', async () => {
    gateway.upstream.respondWith(htmlPage(400))
    const { status, body } = await gateway.request('POST', CHAT, { body: chatBody() })
    expect([status, body.error.message]).toEqual([400, 'The provider refused the request.'])
  })

  test('the length of a reason is limited', async () => {
    const { body } = await refuse(400, { message: 'x'.repeat(100_000) })
    expect(body.error.message.length).toBeLessThanOrEqual(2000)
  })
})

describe('after the first byte', () => {
  const [role, hello] = chunksOf('Hello')
  const started = [role ?? {}, hello ?? {}]

  const breakOff = async (reply: Reply, members: object = {}) => {
    gateway.upstream.respondWith(reply, stream(chunksOf('never asked again')))
    const response = await gateway.fetch('POST', CHAT, { body: chatBody({ stream: true, ...members }) })
    expect(response.status).toBe(200)
    const events = await readEvents(response)
    expect(events.isDone).toBe(false)
    expect(events.content).toBe('Hello')
    expect(events.chunks.filter((one) => 'error' in one)).toHaveLength(1)
    expect(gateway.upstream.requests).toHaveLength(1)
    const { error } = events.chunks.at(-1)
    expect(Object.keys(error).toSorted()).toEqual(ENVELOPE)
    expect(error.request_id).toBe(response.headers.get('x-request-id'))
    expect(error.message).not.toContain('secret')
    return error
  }

  test.each<[string, Reply]>([
    ['a cut connection', stream(started, { ending: 'cut' })],
    ['an end without [DONE] or a finish reason', stream(started, { ending: 'end' })],
    ['an error event', stream([...started, { error: { message: 'secret words' } }])],
    ['an event that is not JSON', stream([...started, 'data: <html>\n\n'])],
    ['an event of another shape', stream([...started, { choices: 'none' }])],
    ['a cut in the middle of an event', stream([...started, 'data: {"choices":[{"ind'], { ending: 'cut' })],
  ])('one error frame and no [DONE]: %s', async (_name, reply) => {
    expect(await breakOff(reply)).toMatchObject({ type: 'upstream_error', code: 'provider_error' })
  })

  test('what was delivered is metered', async () => {
    const before = await tokens()
    await breakOff(stream(started, { ending: 'cut' }), { stream_options: { include_usage: true } })
    expect(await tokens()).toBe(before + 1)
  })

  async function tokens(): Promise<number> {
    const { body } = await gateway.request('GET', '/metrics', { key: null })
    const line = /parkway_tokens_total\{model="gpt-4o-mini",provider="openai",direction="completion"\} (\d+)/
    return Number(line.exec(body)?.[1])
  }
})
