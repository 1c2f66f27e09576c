import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const PROVIDERS = '/v1/admin/providers'

let upstream: OpenAiServer
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startOpenAiServer(completion())
  gateway = await startTestGateway()
  const body = own({ 'x-kept': 'kept' })
  const added = await gateway.request('POST', PROVIDERS, { body })
  expect([added.status, added.body.error?.message]).toEqual([201, undefined])
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const own = (headers: object, members: object = {}) => ({
  name: 'own',
  api_key: 'sk-0123456789-wxyz',
  base_url: upstream.apiUrl,
  headers,
  ...members,
})

const MANY = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x-${index}`, 'a']))
const BAD_HEADERS: readonly (readonly [string, Record<string, string>])[] = [
  ...['a\r\nhost: b', 'a\nb', 'a\rb', 'a\0b', 'naïve', 'a\u2028b', '\u{1F511}', '', ' a', 'a\t', 'a\x7f'].map(
    (value) => [`the value ${JSON.stringify(value)}`, { 'x-a': value }] as const,
  ),
  ...['x-a\r\nb', 'x-a\n', 'x a', 'x-a:', 'x-\0', 'x-é', '', ' host', ':authority', 'x_a', '__proto__'].map(
    (name) => [`the name ${JSON.stringify(name)}`, { [name]: 'a' }] as const,
  ),
  ...[
    'Host',
    'CONTENT-LENGTH',
    'Transfer-Encoding',
    'connection',
    'keep-alive',
    'Upgrade',
    'te',
    'trailer',
    'expect',
    'proxy-connection',
    'proxy-authorization',
    'content-type',
    'content-encoding',
    'accept-encoding',
    'http2-settings',
    'x-request-id',
    'Authorization',
    'api-key',
    'x-api-key',
    'xi-api-key',
    'x-goog-api-key',
    'x-amz-date',
    'x-amz-security-token',
    'Cookie',
  ].map((name) => [`the header ${name}`, { [name]: 'a' }] as const),
  ['one name in two cases', { 'x-a': 'a', 'X-A': 'b' }],
  ['a name that is too long', { [`x-${'a'.repeat(63)}`]: 'a' }],
  ['a value that is too long', { 'x-a': 'a'.repeat(2_049) }],
  ['a value of a megabyte', { 'x-a': 'a'.repeat(1_000_000) }],
  ['a thousand headers', MANY],
]

test.each(BAD_HEADERS)('%s is refused wherever headers are given', async (_, headers) => {
  const answers = [
    await gateway.request('POST', PROVIDERS, { body: own(headers, { name: 'other' }) }),
    await gateway.request('POST', `${PROVIDERS}/test`, { body: own(headers, { name: 'other' }) }),
    await gateway.request('PATCH', `${PROVIDERS}/own`, { body: { headers } }),
  ]
  for (const { status, body } of answers) {
    expect([status, body.error.code === undefined]).toEqual([400, false])
    expect(String(body.error.param)).toMatch(/^headers/)
    expect(body.error.message.length).toBeLessThan(500)
  }
  expect(upstream.requests).toEqual([])
  expect((await gateway.request('GET', `${PROVIDERS}/own`)).body.headers).toEqual(['x-kept'])
  expect((await gateway.request('GET', `${PROVIDERS}/other`)).status).toBe(404)
})

test('one that is added to headers that are there does not exceed their number', async () => {
  const more = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'a']))
  const answer = await gateway.request('PATCH', `${PROVIDERS}/own`, { body: { headers: more } })
  expect([answer.status, answer.body.error.param]).toEqual([400, 'headers'])
})

test('a document brings no headers, and no names that are none', async () => {
  const text = await (await gateway.fetch('GET', '/v1/admin/config/export')).text()
  const [provider] = parse(text).providers
  for (const members of [
    { headers: { 'x-kept': 'other' } },
    { header_names: ['x-kept', 'host'] },
    { header_names: ['x-kept\r\nhost: b'] },
    { header_names: ['X-Kept', 'x-kept'] },
  ]) {
    const document = { parkway: 1, providers: [{ ...provider, ...members }] }
    const { status } = await gateway.request('POST', '/v1/admin/config/apply', { body: { document } })
    expect(status).toBe(400)
  }
})

test.each([
  'http://169.254.169.254/latest',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://169.254.1.1:8000/v1',
  'http://[fe80::1]/v1',
  'http://[fd00:ec2::254]/v1',
  'http://[::ffff:a9fe:a9fe]/v1',
  'http://metadata.google.internal/v1',
  'http://METADATA.google.internal./v1',
  'gopher://127.0.0.1/',
  'http://127.0.0.1:1/v1#@other',
  'http://user@127.0.0.1/v1',
])('%s is no address of a provider or a proxy', async (url) => {
  const elsewhere = { headers: { 'x-kept': null }, credentials: [{ api_key: 'sk-next-0123456789' }] }
  const document = { name: 'own', vendor: null, base_url: url }
  for (const [method, path, body] of [
    ['POST', PROVIDERS, own({}, { name: 'other', base_url: url })],
    ['POST', `${PROVIDERS}/test`, own({}, { name: 'other', base_url: url })],
    ['PATCH', `${PROVIDERS}/own`, { ...elsewhere, base_url: url }],
    ['POST', PROVIDERS, own({}, { name: 'other', proxy: { url } })],
    ['POST', '/v1/admin/config/apply', { document: { parkway: 1, providers: [document] } }],
  ] as const)
    expect((await gateway.request(method, path, { body })).status).toBe(400)
  expect((await gateway.request('GET', `${PROVIDERS}/own`)).body.base_url).toBe(upstream.apiUrl)
})
