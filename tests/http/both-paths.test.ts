import * as fc from 'fast-check'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { readAnswers } from './read-answers.ts'

/** Parses simple requests itself instead of using Node's HTTP server. */
let fast: TestGateway
/** Uses Node's HTTP server for all requests. */
let plain: TestGateway

beforeAll(async () => {
  const settings = { PARKWAY_CORS_ORIGINS: 'https://app.example.com' }
  fast = await startTestGateway({ settings: { ...settings, PARKWAY_FAST_HTTP: 'true' } })
  plain = await startTestGateway({ settings: { ...settings, PARKWAY_FAST_HTTP: 'false' } })
  // The first request borrows credit, which can take long on a busy database.
  for (const gateway of [fast, plain])
    await vi.waitFor(
      async () => {
        const { status } = await gateway.request('POST', '/v1/chat/completions', { body: CHAT })
        if (status !== 200) throw new Error(`the first request was answered ${status}`)
      },
      { timeout: 20_000 },
    )
})

afterAll(async () => {
  await plain.close()
  await fast.close()
})

const CHAT = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant('POST') },
  fc.constantFrom('GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'QUERY', 'PROPFIND', 'FOO', 'post'),
)
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('/v1/chat/completions', '/v1/embeddings', '/v1/rerank') },
  fc.constantFrom(
    '/v1/chat/completions/',
    '/v1/chat/completions?a=%00',
    '//v1/chat/completions',
    '/v1/Chat/completions',
    '/v1/models',
    '/v1/models/',
    '/v1/nothing',
    '/healthz',
    '/',
    '*',
  ),
)
const body = fc.oneof(
  fc.constantFrom(
    CHAT,
    '',
    '{}',
    '[]',
    '{',
    'null',
    '"a"',
    `{"x":${'['.repeat(200)}`,
    '\u0000',
    '{"model":"\\ud800"}',
  ),
  fc.json({ maxDepth: 3 }),
  fc.string({ maxLength: 20 }),
)
const field = fc.constantFrom(
  'content-type: application/json',
  'Content-Type: Application/JSON; charset=utf-8',
  'content-type: text/plain',
  'content-encoding: gzip',
  'content-encoding: identity',
  'origin: https://app.example.com',
  'origin: https://evil.example.com',
  'access-control-request-method: POST',
  'expect: 100-continue',
  'connection: keep-alive',
  'x-empty:',
  'x-text:  a\tb ',
  'x-twice: 1',
  'x-bad : 1',
  'x-high: \u00e9',
  'no colon',
  'idempotency-key: ',
  'authorization: Bearer pk-dev-nobody',
  'authorization: Basic abc',
)
const framing = fc.constantFrom('length', 'length', 'length', 'length', 'chunked', 'none', 'both', 'twice')

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly fields: readonly string[]
  readonly framing: string
  readonly hasKey: boolean
}

const request: fc.Arbitrary<Sent> = fc.record({
  method,
  path,
  body,
  fields: fc.array(field, { maxLength: 3 }),
  framing,
  hasKey: fc.nat(4).map((draw) => draw > 0),
})

function write({ method: verb, path: address, body: text, fields, framing: kind, hasKey }: Sent): Buffer {
  const bytes = Buffer.from(text)
  const length = `content-length: ${bytes.length}`
  const lines = [
    `${verb} ${address} HTTP/1.1`,
    'host: x',
    ...(hasKey ? [`authorization: Bearer ${fast.key}`, 'content-type: application/json'] : []),
    ...(kind === 'length' || kind === 'both' ? [length] : []),
    ...(kind === 'twice' ? [length, length] : []),
    ...(kind === 'chunked' || kind === 'both' ? ['transfer-encoding: chunked'] : []),
    ...fields,
  ]
  const chunk = bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n${text}\r\n`
  const content = kind === 'chunked' ? `${chunk}0\r\n\r\n` : kind === 'none' ? '' : text
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(content)])
}

/** The last request of each case; it closes a connection that is still open. */
const LAST = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

/** Sends each piece in its own packet and returns everything received until the server closed the connection. */
async function exchange(baseUrl: string, pieces: readonly Buffer[]): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let heard = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  socket.on('error', () => {})
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise(setImmediate)
  }
  await closed
  return heard
}

/** Headers whose values change from request to request: only their presence is compared. */
const PASSING =
  /^(?:date|x-request-id|x-gateway-latency-ms|x-gateway-balance-usd|x-gateway-cost-usd|x-ratelimit-.*|etag)$/
/** Converts answers to a comparable form. `connection` and `keep-alive` must be equal too. */
const toComparable = (heard: string, isHead: boolean) =>
  readAnswers(isHead ? withoutBodies(heard) : heard).map(({ status, headers, body: text }) => ({
    status,
    headers: Object.fromEntries(
      Object.entries(headers)
        .map(([name, value]): [string, string] => [name, PASSING.test(name) ? '' : value])
        .filter(([name]) => !(status === 200 && name === 'content-length')),
    ),
    body: status === 200 ? text.length > 0 : scrub(text),
  }))

const withoutBodies = (heard: string) => heard.replace(/content-length: \d+/i, 'content-length: 0')
const scrub = (text: string) => text.replaceAll(/req_[0-9a-f]+/g, 'req')

const expectAlike = async (pieces: readonly Buffer[], isHead: boolean): Promise<number[]> => {
  const [ours, nodes] = await Promise.all([exchange(fast.baseUrl, pieces), exchange(plain.baseUrl, pieces)])
  const [left, right] = [toComparable(ours, isHead), toComparable(nodes, isHead)]
  expect(left).toEqual(right)
  for (const { status } of left) expect(status, scrub(ours)).toBeLessThan(500)
  return left.map(({ status }) => status)
}

describe('the fast path and Node’s own server give the same answers', () => {
  test.each<[string, Partial<Sent>]>([
    ['a whole POST', {}],
    ['a POST without a body', { body: '', framing: 'none' }],
    ['a POST with an empty body', { body: '' }],
    ['a HEAD', { method: 'HEAD', framing: 'none', body: '' }],
    ['an OPTIONS', { method: 'OPTIONS', framing: 'none', body: '' }],
    [
      'a preflight',
      {
        method: 'OPTIONS',
        framing: 'none',
        body: '',
        fields: ['origin: https://app.example.com', 'access-control-request-method: POST'],
      },
    ],
    ['a method nobody knows', { method: 'FOO', framing: 'none', body: '' }],
    ['a slash behind the path', { path: '/v1/chat/completions/' }],
    ['no key', { hasKey: false }],
    ['an expectation', { fields: ['expect: 100-continue'] }],
    ['a compressed body nobody asked for', { fields: ['expect: 100-continue', 'content-encoding: gzip'] }],
    [
      'a large body that is refused unread',
      { body: 'x'.repeat(300_000), fields: ['content-encoding: gzip'] },
    ],
    ['another site’s browser', { fields: ['origin: https://evil.example.com'] }],
    ['our site’s browser', { fields: ['origin: https://app.example.com'] }],
  ])('%s', async (_name, members) => {
    const sent: Sent = {
      method: 'POST',
      path: '/v1/chat/completions',
      body: CHAT,
      fields: [],
      framing: 'length',
      hasKey: true,
      ...members,
    }
    const statuses = await expectAlike([write(sent), Buffer.from(LAST)], sent.method === 'HEAD')
    expect(statuses.length).toBeGreaterThan(0)
  })

  test('the fast path and Node’s own server give the same answers to any requests, however they are split and pipelined', async () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 3 })
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), cuts, async (requests, places) => {
        const bytes = Buffer.concat([...requests.map(write), Buffer.from(LAST)])
        const edges = [0, ...places.filter((at) => at < bytes.length).toSorted((a, b) => a - b), bytes.length]
        const pieces = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
        const statuses = await expectAlike(pieces, false)
        for (const status of statuses) seen.add(status)
      }),
      { numRuns: 150 },
    )
    for (const status of [200, 400, 401, 404, 405, 415]) expect(seen).toContain(status)
  })
})
