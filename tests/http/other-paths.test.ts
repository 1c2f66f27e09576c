import { request as httpRequest } from 'node:http'
import Anthropic, { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import OpenAI, { AzureOpenAI, toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let paths: string[]

beforeAll(async () => {
  gateway = await startTestGateway()
  const { body } = await gateway.request('GET', '/openapi.json')
  paths = Object.keys(body.paths)
})

afterAll(() => gateway.close())

/** PUT is taken by no route below /v1: the answer to it tells which route a path belongs to, and changes nothing. */
async function methodsOf(path: string): Promise<unknown[]> {
  const { status, headers } = await gateway.request('PUT', path)
  return [status, headers.get('allow')]
}

/** What the own paths of routes answer, with which their other forms are compared. */
const known = new Map<string, Promise<unknown[]>>()
function methodsOfOwn(path: string): Promise<unknown[]> {
  const answer = known.get(path) ?? methodsOf(path)
  known.set(path, answer)
  return answer
}

const filled = (path: string) => path.replaceAll(/\{\w+\}/g, 'some-id')

describe('every route of the API is also served', () => {
  const FORMS: readonly [string, (path: string) => string][] = [
    ['with a slash at its end', (path) => `${path}/`],
    ['without /v1', (path) => path.slice('/v1'.length)],
    ['without /v1 and with a slash at its end', (path) => `${path.slice('/v1'.length)}/`],
    ['below /openai/v1', (path) => `/openai${path}`],
    ['below a base address that has /v1 as well', (path) => `/v1${path}`],
  ]
  test.each(FORMS)('%s', async (_name, toForm) => {
    const api = paths.filter((path) => /^\/v1\/(?!admin\/)/.test(path)).map(filled)
    expect(api.length).toBeGreaterThan(80)
    for (const path of api) {
      // Without /v1 it is the operator's page of metrics, which was there first.
      if (path === '/v1/metrics' && toForm(path).startsWith('/metrics')) continue
      const [status, allow] = await methodsOfOwn(path)
      expect([path, status]).toEqual([path, 405])
      expect([toForm(path), ...(await methodsOf(toForm(path)))]).toEqual([toForm(path), status, allow])
    }
  })

  test('with its model in the path, as Azure has it', async () => {
    for (const path of ['/chat/completions', '/embeddings', '/images/generations', '/audio/transcriptions'])
      expect(await methodsOf(`/openai/deployments/any-model${path}`)).toEqual(await methodsOf(`/v1${path}`))
  })

  test('except for those of operators, which a proxy closes by their path', async () => {
    const operators = paths.filter((path) => path.startsWith('/v1/admin/')).map(filled)
    expect(operators.length).toBeGreaterThan(10)
    for (const path of operators)
      for (const form of [
        path.slice('/v1'.length),
        `/openai${path}`,
        `/v1${path}`,
        `/openai/deployments/x${path.slice(3)}`,
      ])
        expect([form, ...(await methodsOf(form))]).toEqual([form, 404, null])
  })

  test('every route of the API is also served and what is none stays unknown', async () => {
    for (const path of [
      '/v1/nothing',
      '/nothing/',
      '/openai/nothing',
      '/openai/deployments/x/nothing',
      '/v2/chat',
    ])
      expect([path, (await gateway.request('PUT', path)).status]).toEqual([path, 404])
  })
})

const messages = [{ role: 'user' as const, content: 'Hello' }]
const MODEL = 'gpt-4o-mini'

describe('clients with another base address', () => {
  test.each(['', '/', '/v1/', '/openai', '/openai/v1', '/v1/v1'])('OpenAI’s SDK with %j', async (base) => {
    const client = new OpenAI({ baseURL: gateway.baseUrl + base, apiKey: gateway.key, maxRetries: 0 })
    const { choices } = await client.chat.completions.create({ model: MODEL, messages })
    expect(choices[0]?.message.content).toMatch(/./)
    expect((await client.models.list()).data.length).toBeGreaterThan(10)
    const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'Hi' })
    expect(data).toHaveLength(1)
  })

  test.each(['', '/anthropic', '/v1', '/anthropic/v1'])('Anthropic’s SDK with %j', async (base) => {
    const client = new Anthropic({ baseURL: gateway.baseUrl + base, apiKey: gateway.key, maxRetries: 0 })
    const answer = await client.messages.create({ model: MODEL, max_tokens: 50, messages })
    expect(answer.content[0]).toMatchObject({ type: 'text' })
    const counted = await client.messages.countTokens({ model: MODEL, messages })
    expect(counted.input_tokens).toBeGreaterThan(0)
  })
})

describe('Azure’s SDK', () => {
  const azure = (deployment?: string) =>
    new AzureOpenAI({
      endpoint: gateway.baseUrl,
      apiKey: gateway.key,
      apiVersion: '2024-10-21',
      maxRetries: 0,
      ...(deployment === undefined ? {} : { deployment }),
    })

  test('chats with the model of its path, whole and streamed', async () => {
    const client = azure(MODEL)
    const whole = await client.chat.completions.create({ model: 'ignored', messages })
    expect(whole.model).toBe(MODEL)
    let text = ''
    for await (const { choices } of await client.chat.completions.create({
      model: '',
      messages,
      stream: true,
    }))
      text += choices[0]?.delta.content ?? ''
    expect(text).toBe(whole.choices[0]?.message.content)
  })

  test('makes embeddings and transcribes forms with the model of its path', async () => {
    const { model } = await azure().embeddings.create({ model: 'text-embedding-3-small', input: 'Hi' })
    expect(model).toBe('text-embedding-3-small')
    const speech = await azure('tts-1').audio.speech.create({
      model: 'x',
      voice: 'alloy',
      input: 'Hello',
      response_format: 'wav',
    })
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'hello.wav')
    const transcript = await azure('whisper-1').audio.transcriptions.create({ model: 'ignored', file })
    expect(transcript.text).toMatch(/hello/i)
  })

  test('a body needs no model, and the key may come as api-key', async () => {
    const path = `/openai/deployments/${MODEL}/chat/completions?api-version=2024-10-21`
    const { status, body } = await gateway.request('POST', path, {
      key: null,
      headers: { 'api-key': gateway.key },
      body: { messages },
    })
    expect([status, body.model]).toEqual([200, MODEL])
    const wrong = await gateway.request('POST', path, {
      key: null,
      headers: { 'api-key': 'nothing' },
      body: { messages },
    })
    expect(wrong.status).toBe(401)
  })

  test('reads responses below /openai/v1', async () => {
    const { status, body } = await gateway.request('POST', '/openai/v1/responses?api-version=preview', {
      key: null,
      headers: { 'api-key': gateway.key },
      body: { model: MODEL, input: 'Hi' },
    })
    expect([status, body.status]).toEqual([200, 'completed'])
  })
})

test('Cohere’s second version of reranking is served, and its errors have a message', async () => {
  const body = {
    model: 'rerank-v3.5',
    query: 'What is a gateway?',
    documents: ['A gateway joins networks.', 'Bread.'],
    top_n: 1,
  }
  const ranked = await gateway.request('POST', '/v2/rerank', { body })
  expect([ranked.status, ranked.body.results]).toMatchObject([200, [{ index: 0 }]])
  expect(ranked.body).toMatchObject({ id: expect.any(String), meta: { billed_units: { search_units: 1 } } })
  const refused = await gateway.request('POST', '/v2/rerank', { body: { ...body, documents: [] } })
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { message: expect.any(String), error: { param: 'documents' } },
  ])
})

describe('a WebSocket', () => {
  const open = (path: string, method = 'GET') =>
    new Promise<{ status: number | undefined; headers: object; text: string }>((resolve, reject) => {
      const url = new URL(gateway.baseUrl + path)
      const asked = httpRequest(
        url,
        {
          method,
          headers: {
            authorization: `Bearer ${gateway.key}`,
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          },
        },
        (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
        },
      )
      asked.on('upgrade', () => reject(new Error('upgraded')))
      asked.on('error', reject).end()
    })

  test.each(['/v1/responses', '/v1/responses/', '/responses', '/openai/v1/responses?x=1'])(
    'on %s is answered with 426 at once, so that Codex goes on over HTTP',
    async (path) => {
      const { status, headers, text } = await open(path)
      expect([status, JSON.parse(text).error.code]).toEqual([426, 'upgrade_required'])
      expect(headers).toMatchObject({ allow: 'POST', upgrade: 'HTTP/1.1' })
    },
  )

  test('on a path that is no route is 404, and a GET without one is 405', async () => {
    expect((await open('/v1/realtime')).status).toBe(404)
    expect((await gateway.request('GET', '/v1/responses')).status).toBe(405)
  })
})

describe('clients of Anthropic’s wire', () => {
  test.each([
    ['GET', '/v1/messages/sets', 404],
    ['POST', '/v1/messages/sets', 404],
    ['GET', '/v1/messages', 405],
    ['POST', '/anthropic/v1/files', 404],
    ['GET', '/anthropic/', 404],
    ['DELETE', '/anthropic/v1/models/claude-sonnet-4-6', 405],
  ])('read an unknown route as an error of theirs: %s %s', async (method, path, status) => {
    const answer = await gateway.request(method, path)
    expect([answer.status, answer.body]).toMatchObject([
      status,
      {
        type: 'error',
        error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error' },
        request_id: expect.stringMatching(/^req_/),
      },
    ])
    expect(answer.headers.get('request-id')).toBe(answer.body.request_id)
  })

  test('read a model and pages of models, and are told of an unknown page', async () => {
    for (const base of ['', '/anthropic']) {
      const client = new Anthropic({ baseURL: gateway.baseUrl + base, apiKey: gateway.key, maxRetries: 0 })
      const [known] = (await client.models.list()).data
      expect(await client.models.retrieve(known?.id ?? '')).toEqual(known)
      expect(known).toMatchObject({ type: 'model', display_name: expect.stringMatching(/./) })
      await expect(client.models.retrieve('no-such-model')).rejects.toThrow(NotFoundError)
      const first = await client.models.list({ limit: 2 })
      const second = await client.models.list({ limit: 2, after_id: first.last_id ?? '' })
      expect(second.data[0]?.id).not.toBe(first.data[0]?.id)
      await expect(client.models.list({ after_id: 'no-such-model' })).rejects.toThrow(BadRequestError)
      await expect(client.models.list({ before_id: 'no-such-model' })).rejects.toThrow(BadRequestError)
    }
  })
})

test('a person who opens a page of the console at such a path gets the page, and a program the answer', async () => {
  const page = await gateway.fetch('GET', '/models', { key: null, headers: { accept: 'text/html' } })
  expect((await page.text()).startsWith('{"object":"list"')).toBe(false)
  const { status, body } = await gateway.request('GET', '/models')
  expect([status, body.object]).toEqual([200, 'list'])
})
