import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { createStranger } from '../sessions/sign-in.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { completion, failure, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const PROVIDERS = '/v1/admin/providers'
const KEY = 'sk-proj-0123456789-wxyz'

let upstream: OpenAiServer
let gateway: TestGateway
let second: TestGateway

beforeAll(async () => {
  upstream = await startOpenAiServer()
  const settings = { GROQ_API_KEY: 'gsk-of-the-environment', GROQ_BASE_URL: upstream.apiUrl }
  gateway = await startTestGateway({ settings })
  second = await startTestGateway({ settings, connectionString: gateway.connectionString })
})
afterAll(async () => {
  await second.close()
  await gateway.close()
  await upstream.close()
})
beforeEach(() => upstream.respondWith(completion()))
afterEach(async () => {
  for (const { id, source } of (await gateway.request('GET', PROVIDERS)).body.data)
    if (source === 'database') await gateway.request('DELETE', `${PROVIDERS}/${id}`)
})

const openai = (members: object = {}) => ({
  name: 'openai',
  api_key: KEY,
  base_url: upstream.apiUrl,
  wires: [],
  ...members,
})
const add = (body: object, from = gateway) => from.request('POST', PROVIDERS, { body })
const change = (name: string, body: object) => gateway.request('PATCH', `${PROVIDERS}/${name}`, { body })
const ask = (from: TestGateway, model = 'gpt-4o-mini') =>
  from.request('POST', CHAT, { body: chatBody({ model }) })
const lastRequest = () => upstream.requests.at(-1)

describe('a provider that is added', () => {
  test('serves the next request of every process', async () => {
    const added = await add(openai())
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      id: 'openai',
      source: 'database',
      vendor: 'openai',
      is_configured: true,
      keys: 1,
      base_url: upstream.apiUrl,
      credentials: [{ ends_with: 'wxyz', secret_ref: null, weight: 1, problem: null }],
    })
    for (const one of [second, gateway]) {
      const answer = await ask(one)
      expect([answer.status, answer.headers.get('x-gateway-provider')]).toEqual([200, 'openai'])
      expect(lastRequest()?.headers['authorization']).toBe(`Bearer ${KEY}`)
    }
  })

  test('is used no more once it is removed', async () => {
    await add(openai())
    const removed = await gateway.request('DELETE', `${PROVIDERS}/openai`)
    expect([removed.status, removed.body.deleted]).toEqual([200, true])
    const answer = await ask(second)
    expect(answer.headers.get('x-gateway-provider')).toBe('sandbox')
    expect((await gateway.request('DELETE', `${PROVIDERS}/openai`)).status).toBe(404)
  })

  test('may be a second one of a vendor, under a name of its own', async () => {
    const added = await add({
      ...openai(),
      name: 'openai-eu',
      vendor: 'openai',
      headers: { 'OpenAI-Organization': 'org-1' },
    })
    expect(added.body).toMatchObject({ vendor: 'openai', headers: ['openai-organization'] })
    const tested = await gateway.request('POST', `${PROVIDERS}/openai-eu/test`, {
      body: { upstream_model: 'gpt-x' },
    })
    expect(tested.body).toMatchObject({ is_ok: true, upstream_model: 'gpt-x' })
    expect(lastRequest()?.headers).toMatchObject({
      'openai-organization': 'org-1',
      authorization: `Bearer ${KEY}`,
    })
  })

  test('is not used while it is switched off', async () => {
    await add(openai({ is_enabled: false }))
    expect((await ask(second)).headers.get('x-gateway-provider')).toBe('sandbox')
    const changed = await change('openai', { is_enabled: true })
    expect(changed.body).toMatchObject({ is_enabled: true, is_configured: true })
    expect((await ask(second)).headers.get('x-gateway-provider')).toBe('openai')
  })
})

describe('keys', () => {
  test('are rotated by adding one and ending the other', async () => {
    const { body } = await add(openai())
    const [{ id }] = body.credentials
    const both = await change('openai', {
      credentials: [{ id, weight: 3 }, { api_key: 'sk-second-0123456789' }],
    })
    expect(both.body.credentials).toMatchObject([
      { id, weight: 3 },
      { ends_with: '6789', weight: 1 },
    ])
    await change('openai', { credentials: [{ id: both.body.credentials[1].id }] })
    await ask(second)
    expect(lastRequest()?.headers['authorization']).toBe('Bearer sk-second-0123456789')
  })

  test('are never shown again, nor written to the database or the audit log as they are', async () => {
    const answers = [
      await add(openai({ headers: { 'x-tenant': 'header-secret-value' } })),
      await change('openai', { credentials: [{ api_key: `${KEY}-other` }] }),
      await gateway.request('GET', PROVIDERS),
      await gateway.request('GET', `${PROVIDERS}/openai`),
      await gateway.request('GET', '/v1/admin/audit'),
      await gateway.request('GET', '/metrics', { key: gateway.key }),
    ]
    const text = JSON.stringify(answers.map(({ body }) => body))
    for (const secret of [KEY, 'header-secret-value', '0123456789']) expect(text).not.toContain(secret)
  })

  test('stay with the host that they were given for', async () => {
    const { body } = await add(openai({ headers: { 'x-tenant': 'secret' } }))
    const elsewhere = 'http://127.0.0.1:9/v1'
    for (const patch of [
      { base_url: elsewhere },
      { base_url: null },
      { base_url: elsewhere, credentials: [{ id: body.credentials[0].id }] },
      { base_url: elsewhere, credentials: [{ api_key: 'sk-new-0123456789' }] },
    ])
      expect((await change('openai', patch)).body.error).toMatchObject({ param: 'base_url' })
    const moved = await change('openai', {
      base_url: elsewhere,
      credentials: [{ api_key: 'sk-new-0123456789' }],
      headers: { 'x-tenant': null },
    })
    expect(moved.body).toMatchObject({ base_url: elsewhere, headers: [] })
  })
})

describe('what is refused', () => {
  test.each([
    ['a name with markup', { name: '<b>x</b>' }, 'name'],
    ['a name of the gateway', { name: 'sandbox' }, 'name'],
    ['an unknown vendor', { name: 'mine', vendor: 'nobody' }, 'vendor'],
    ['a name of another vendor', { vendor: 'groq' }, 'name'],
    ['an address of another protocol', { base_url: 'file:///etc/passwd' }, 'base_url'],
    ['an address with a password', { base_url: 'http://user:pass@host/v1' }, 'base_url'],
    ['an address with a query', { base_url: 'http://host/v1?x=1' }, 'base_url'],
    ['the metadata of a cloud', { base_url: 'http://169.254.169.254/latest' }, 'base_url'],
    ['the metadata of a cloud as a number', { base_url: 'http://0xa9fea9fe/' }, 'base_url'],
    ['the metadata of a cloud in IPv6', { base_url: 'http://[::ffff:169.254.169.254]/' }, 'base_url'],
    ['a header that ends the request', { headers: { 'x-a': 'a\r\nhost: b' } }, 'headers.x-a'],
    ['a header name that ends the line', { headers: { 'x-a\r\nb': 'a' } }, 'headers.name'],
    [
      'a header of the connection',
      { headers: { 'Transfer-Encoding': 'chunked' } },
      'headers.transfer-encoding',
    ],
    ['a length', { headers: { 'content-length': '5' } }, 'headers.content-length'],
    ['another host', { headers: { host: 'other' } }, 'headers.host'],
    ['a header of a proxy', { headers: { 'proxy-authorization': 'x' } }, 'headers.proxy-authorization'],
    ['a second credential', { headers: { authorization: 'Basic eA==' } }, 'headers.authorization'],
    ['a key with a line break', { api_key: 'a\nb' }, 'credentials.0'],
    ['a vendor without a key', { api_key: undefined, base_url: undefined }, 'credentials'],
    ['a member that is not held back', { allow_members: ['temperature'] }, 'allow_members'],
    [
      'a variable of the gateway',
      { api_key: undefined, secret_ref: 'env:PARKWAY_SEALING_KEY' },
      'credentials.0',
    ],
    ['the database', { api_key: undefined, secret_ref: 'env:DATABASE_URL' }, 'credentials.0'],
    ['the key of another provider', { api_key: undefined, secret_ref: 'env:GROQ_API_KEY' }, 'credentials.0'],
    ['a file elsewhere', { api_key: undefined, secret_ref: 'file:/etc/passwd' }, 'credentials.0'],
    ['a way out', { api_key: undefined, secret_ref: 'file:/run/secrets/../x' }, 'credentials.0'],
    ['an own server without an address', { name: 'mine', base_url: undefined }, 'base_url'],
  ])('%s', async (_, members, param) => {
    const { status, body } = await add(openai(members))
    expect([status, body.error?.param]).toEqual([400, param])
    expect(JSON.stringify(body)).not.toContain(KEY)
  })

  test('the change of a provider of the environment, and a second one of its name', async () => {
    for (const answer of [
      await add({ name: 'groq', api_key: KEY }),
      await change('groq', { is_enabled: false }),
      await gateway.request('DELETE', `${PROVIDERS}/groq`),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    const { body } = await gateway.request('GET', `${PROVIDERS}/groq`)
    expect(body).toMatchObject({ source: 'file', credentials: [], base_url: null })
  })

  test('whoever is no operator', async () => {
    const key = await createStranger(gateway)
    for (const [method, path] of [
      ['POST', PROVIDERS],
      ['POST', `${PROVIDERS}/test`],
      ['PATCH', `${PROVIDERS}/openai`],
    ] as const)
      expect((await gateway.request(method, path, { key, body: openai() })).status).toBe(403)
  })
})

describe('a test before saving', () => {
  test('calls the provider and stores nothing', async () => {
    const { body } = await gateway.request('POST', `${PROVIDERS}/test`, { body: openai() })
    expect(body).toMatchObject({ object: 'provider_test', provider: 'openai', is_ok: true })
    expect((await gateway.request('GET', `${PROVIDERS}/openai`)).body.source).toBe(null)
    upstream.respondWith(failure(401, { message: `Incorrect API key provided: ${KEY}` }))
    const refused = await gateway.request('POST', `${PROVIDERS}/test`, { body: openai() })
    expect(refused.body).toMatchObject({ is_ok: false, status: 401 })
    expect(JSON.stringify(refused.body)).not.toContain(KEY)
  })
})

test('the models that a key sees are listed', async () => {
  await add(openai())
  upstream.respondWith({
    chunks: [JSON.stringify({ object: 'list', data: [{ id: 'gpt-x' }, { id: 'gpt-x' }, { id: 7 }] })],
  })
  const { body } = await gateway.request('GET', `${PROVIDERS}/openai/models`)
  expect(body.data).toEqual([{ id: 'gpt-x', object: 'provider_model' }])
  expect(lastRequest()).toMatchObject({ method: 'GET', path: '/v1/models' })
  upstream.respondWith(failure(500))
  expect((await gateway.request('GET', `${PROVIDERS}/openai/models`)).status).toBe(502)
})

test('the audit log says what was changed', async () => {
  await add(openai())
  await change('openai', { timeouts: { first_byte_ms: 5000 } })
  const { body } = await gateway.request('GET', '/v1/admin/audit')
  expect(body.data[0]).toMatchObject({
    action: 'provider.change',
    target: { kind: 'provider', id: 'openai' },
    details: { first_byte_ms: { from: null, to: 5000 } },
  })
  expect(body.data[1].details.credentials).toMatchObject({ from: null, to: [{ ends_with: 'wxyz' }] })
})
