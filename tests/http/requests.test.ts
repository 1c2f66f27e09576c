import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectEnvelope } from './expect-envelope.ts'
import { parseRaw, sendRaw } from './send-raw.ts'

const CHAT = '/v1/chat/completions'
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
const BODY_BYTES_MAX = 100_000

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BODY_BYTES_MAX: String(BODY_BYTES_MAX) } })
})

afterAll(async () => {
  await gateway.close()
})

describe('paths', () => {
  test.each([
    ['GET', '/v1/nothing'],
    ['POST', '/v1/chat/completion'],
    ['POST', '/v1/Chat/Completions'],
    ['POST', '//v1/chat/completions'],
    ['GET', '/v1/models/a/b'],
  ])('404: %s %s', async (method, path) => {
    const answer = await gateway.request(method, path, method === 'POST' ? { body: BODY } : {})
    expectEnvelope(answer, 404, { code: 'not_found' })
    expect(answer.body.error.message).toContain(method)
  })

  test.each([
    ['GET', CHAT, 'POST'],
    ['DELETE', '/v1/completions', 'POST'],
    ['PUT', '/v1/tenants/me/api-keys/x', 'GET, PATCH, DELETE'],
    ['POST', '/v1/models/a%2Fb', 'GET'],
    ['OPTIONS', CHAT, 'POST'],
  ])('405: %s %s names the allowed methods', async (method, path, allowed) => {
    const answer = await gateway.request(method, path)
    expectEnvelope(answer, 405, { code: 'method_not_allowed' })
    expect(new Set(answer.headers.get('allow')?.split(', '))).toEqual(new Set(allowed.split(', ')))
  })

  test('an id that contains a slash is one segment', async () => {
    const { status, body } = await gateway.request('GET', '/v1/models/openai%2Fgpt-oss-120b')
    expect([status, body.id]).toEqual([200, 'gpt-oss-120b'])
  })

  test('404: an unknown id, in any spelling', async () => {
    for (const id of ['a%2Fb', '%20', '..%2F..%2Fetc%2Fpasswd', '%E2%82%AC']) {
      const answer = await gateway.request('GET', `/v1/models/${id}`)
      expectEnvelope(answer, 404, { code: 'model_not_found', param: 'model' })
    }
  })

  test.each(['/v1/models/%zz', '/v1/models/%', '/v1/models/%C3%28'])('400: %s', async (path) => {
    expectEnvelope(await gateway.request('GET', path), 400, { code: 'invalid_request' })
  })

  test('404: a very long id', async () => {
    expectEnvelope(await gateway.request('GET', `/v1/models/${'x'.repeat(5000)}`), 404, { code: 'not_found' })
  })

  test('a query on a hot route is ignored', async () => {
    expect((await gateway.request('POST', `${CHAT}?api-version=1`, { body: BODY })).status).toBe(200)
  })
})

describe('bodies', () => {
  const send = (body: string, contentType = 'application/json', path = CHAT) =>
    gateway.request('POST', path, { body, headers: { 'content-type': contentType } })

  test.each(['{', 'hello', '{"model": "a",}', "{'model': 'a'}", '\u0000', '{"a": NaN}'])(
    '400: %j is not JSON',
    async (body) => {
      for (const path of [CHAT, '/v1/tenants/me/api-keys'])
        expectEnvelope(await send(body, 'application/json', path), 400, { code: 'invalid_json' })
    },
  )

  test.each(['[]', '7', '"text"', 'null', 'true'])('400: %s is not an object', async (body) => {
    expectEnvelope(await send(body), 400, { code: 'invalid_request' })
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ])('415: %s', async (contentType) => {
    for (const path of [CHAT, '/v1/tenants/me/api-keys'])
      expectEnvelope(await send(JSON.stringify(BODY), contentType, path), 415, {
        code: 'unsupported_media_type',
      })
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8'])(
    '200: %s',
    async (contentType) => {
      expect((await send(JSON.stringify(BODY), contentType)).status).toBe(200)
    },
  )

  test('413: a body over the limit, declared or not', async () => {
    const text = JSON.stringify({ ...BODY, filler: 'x'.repeat(BODY_BYTES_MAX) })
    for (const path of [CHAT, '/v1/tenants/me/api-keys'])
      expectEnvelope(await send(text, 'application/json', path), 413, { code: 'request_too_large' })
    const chunked = [
      `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n`,
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      `${text.length.toString(16)}\r\n${text}\r\n`,
    ]
    expect(parseRaw(await sendRaw(gateway.baseUrl, ...chunked))).toMatchObject({
      status: 413,
      body: { error: { code: 'request_too_large' } },
    })
  })

  test('200: a body just under the limit', async () => {
    const bare = JSON.stringify({ ...BODY, filler: '' })
    const text = JSON.stringify({ ...BODY, filler: 'x'.repeat(BODY_BYTES_MAX - bare.length) })
    expect((await send(text)).status).toBe(200)
  })

  test.each([
    ['no body', {}],
    ['an empty one', { headers: { 'content-type': 'application/json', 'content-length': '0' } }],
  ])('%s is an empty object: a route names the members it requires', async (_name, request) => {
    expectEnvelope(await gateway.request('POST', CHAT, request), 400, {
      code: 'missing_required_parameter',
      param: 'model',
    })
    expect((await gateway.request('POST', '/v1/tenants/me/api-keys', request)).status).toBe(201)
  })

  test('characters beyond ASCII arrive complete, however the body is split', async () => {
    const text = JSON.stringify({ model: 'm\u00e9\u{1F600}', messages: BODY.messages })
    const bytes = Buffer.from(text)
    const cut = bytes.indexOf(0xc3) + 1
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`
    const answer = await sendRaw(gateway.baseUrl, head, bytes.subarray(0, cut), bytes.subarray(cut))
    expect(answer).toContain('m\u00e9\u{1F600}')
  })
})

describe('requests without a valid key', () => {
  test('401 reaches a client that is still sending a large body', async () => {
    const answer = await gateway.request('POST', CHAT, {
      key: 'pk-dev-unknownunknownunknownunknownunknownunknown1',
      body: JSON.stringify({ ...BODY, filler: 'x'.repeat(20 * 1024 * 1024) }),
    })
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key'])
  })

  test('413 reaches a client that is still sending a large body', async () => {
    const answer = await gateway.request('POST', CHAT, {
      body: JSON.stringify({ ...BODY, filler: 'x'.repeat(20 * 1024 * 1024) }),
    })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large'])
  })
})
