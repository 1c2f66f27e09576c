import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectEnvelope } from './expect-envelope.ts'
import { parseRaw, sendRaw } from './send-raw.ts'

const CHAT = '/v1/chat/completions'
const KEYS = '/v1/tenants/me/api-keys'
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.request('POST', path, { body, headers })

/** Sends raw bytes on a new connection. */
const sendBytes = async (path: string, body: Buffer, ...headers: string[]) => {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: x',
    'content-type: application/json',
    `authorization: Bearer ${gateway.key}`,
    `content-length: ${body.length}`,
    'connection: close',
    ...headers,
  ]
  return parseRaw(await sendRaw(gateway.baseUrl, `${head.join('\r\n')}\r\n\r\n`, body))
}

const sendFile = async (name: string, content: string | Buffer) => {
  const form = new FormData()
  form.set('file', new Blob([content]), name)
  const response = await fetch(`${gateway.baseUrl}/v1/compare/datasets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  })
  return { status: response.status, body: await response.json() }
}

describe('JSON that is nested too deep', () => {
  test.each([
    [
      CHAT,
      (depth: number) =>
        `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"x":${nest(depth)}}`,
    ],
    [KEYS, (depth: number) => `{"name":"deep","x":${nest(depth)}}`],
  ])('400: of %s, while 100 levels are accepted', async (path, bodyOf) => {
    for (const depth of [100, 3_000, 5_000, 1_000_000])
      expectEnvelope(await post(path, bodyOf(depth)), 400, { code: 'invalid_json' })
    expect((await post(path, bodyOf(99))).body.error?.code).not.toBe('invalid_json')
  })

  test('400: in a line of a JSON file, and in a column of a CSV file', async () => {
    const line = `{"prompt":"a","metadata":${nest(5_000)}}`
    expect((await sendFile('a.jsonl', line)).status).toBe(400)
    expect((await sendFile('a.csv', `messages\n"${nest(5_000)}"`)).status).toBe(400)
  })
})

describe('text that cannot be stored', () => {
  const ZERO = String.raw`\u0000`
  const HALF = String.raw`\ud83d`

  test.each([ZERO, HALF, String.raw`\ude00\ud83d`])('400: %s in a body that is stored', async (text) => {
    for (const path of [KEYS, '/v1/images/generations', '/v1/compare/datasets', '/v1/admin/accounts'])
      expectEnvelope(await post(path, `{"name":"a${text}","prompt":"${text}"}`), 400, {
        code: 'invalid_value',
        param: 'name',
      })
    expectEnvelope(await post(KEYS, `{"name":"a","metadata":{"${text}":1}}`), 400, {
      code: 'invalid_value',
      param: 'metadata',
    })
    expect((await sendFile('a.jsonl', `{"prompt":"${text}"}`)).status).toBe(400)
  })

  test('an escaped backslash before it is accepted', async () => {
    expect((await post(KEYS, String.raw`{"name":"a\\u0000 \ud83d\ude00"}`)).status).toBe(201)
  })

  test('a prompt that is not stored may contain it', async () => {
    const { status } = await post(
      CHAT,
      `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"a${ZERO}${HALF}"}]}`,
    )
    expect(status).toBe(200)
  })

  test.each([
    '/v1/models/a%00b',
    `${KEYS}/%00`,
    '/v1/compare/datasets/a%00b',
    '/v1/models?type=%00',
    '/v1/usage?model=a%00',
    '/v1/tasks?status=%00',
    `${KEYS}?after=%00`,
    `${KEYS}?%00=1`,
  ])('400: GET %s', async (path) => {
    const { status, body } = await gateway.request('GET', path)
    expect([status, body.error.code]).toEqual([400, 'invalid_value'])
  })

  test('400: in a form field', async () => {
    const form = new FormData()
    form.set('prompt', 'a\0b')
    form.set('image', new Blob(['x']), 'a.png')
    const response = await fetch(`${gateway.baseUrl}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_value' } },
    ])
  })
})

describe('bytes that are not text', () => {
  const broken = Buffer.concat([
    Buffer.from('{"name":"a","model":"gpt-4o-mini","messages":[{"role":"user","content":"'),
    Buffer.from([0xff, 0xc3]),
    Buffer.from('"}]}'),
  ])

  test.each([CHAT, KEYS])('400: a body of %s that is not UTF-8', async (path) => {
    for (const more of [[], ['x-a: 1', 'x-a: 2']]) {
      const { status, body } = await sendBytes(path, broken, ...more)
      expect([status, body.error.code]).toEqual([400, 'invalid_json'])
    }
  })

  test('400: a file that is not UTF-8', async () => {
    expect((await sendFile('a.jsonl', broken)).status).toBe(400)
  })

  test('a replacement character in the input is accepted', async () => {
    expect((await post(KEYS, { name: 'a\ufffd' })).status).toBe(201)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity'])('415: a body in %s', async (encoding) => {
    for (const path of [CHAT, KEYS, '/v1/payments/webhook/stripe', '/v1/images/edits']) {
      const answer = await post(path, BODY, { 'content-encoding': encoding })
      expectEnvelope(answer, 415, { code: 'unsupported_media_type' })
    }
  })

  test('the encoding identity is accepted', async () => {
    expect((await post(CHAT, BODY, { 'content-encoding': 'identity' })).status).toBe(200)
    expect((await post(KEYS, { name: 'a' }, { 'content-encoding': 'identity' })).status).toBe(201)
  })
})

describe('numbers and booleans of a query', () => {
  test.each(['true', '0x5', '1e1', '%205', '+5', '5.0', '5.5', '05', '', '1_0', 'NaN', 'null'])(
    '400: limit=%s',
    async (limit) => {
      for (const path of [KEYS, '/v1/tasks', '/v1/usage/records']) {
        const { status, body } = await gateway.request('GET', `${path}?limit=${limit}`)
        expect([path, status, body.error.param]).toEqual([path, 400, 'limit'])
      }
    },
  )

  test('400: the same number parameter twice', async () => {
    expect((await gateway.request('GET', `${KEYS}?limit=1&limit=2`)).status).toBe(400)
  })

  test('a number in JSON notation is accepted', async () => {
    expect((await gateway.request('GET', `${KEYS}?limit=5`)).status).toBe(200)
  })
})

describe('methods and addresses', () => {
  test.each(['QUERY', 'PROPFIND', 'PUT', 'TRACE', 'M-SEARCH', 'SEARCH', 'LOCK'])(
    '405: %s',
    async (method) => {
      const send = async (path: string) =>
        parseRaw(
          await sendRaw(
            gateway.baseUrl,
            `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
          ),
        )
      for (const path of [CHAT, '/v1/models']) {
        const { status, body } = await send(path)
        expect([path, status, body.error.code]).toEqual([path, 405, 'method_not_allowed'])
      }
      expect((await send('/v1/nothing')).status).toBe(404)
    },
  )

  test.each([
    'https://example.com/\r\nx: y',
    'https://example.com/é',
    'https://example.com/a b',
    'https://ex\tample.com/',
  ])('400: a return URL of %j', async (address) => {
    for (const param of ['success_url', 'cancel_url']) {
      const answer = await post('/v1/payments/checkout', { amount_usd: 5, [param]: address })
      expectEnvelope(answer, 400, { code: 'invalid_value', param })
    }
  })
})
