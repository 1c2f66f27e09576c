import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { joinAccount } from '../organization/join-account.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedServer,
} from '../upstreams/scripted-server.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const DONE = { headers: { 'content-type': 'application/json' }, chunks: ['{}'] }

let collector: ScriptedServer
let gateway: TestGateway

beforeAll(async () => {
  collector = await startScriptedServer(DONE)
  gateway = await startTestGateway({
    settings: {
      PARKWAY_AGENT_OTLP_ENDPOINT: `${collector.baseUrl}/collector/`,
      PARKWAY_AGENT_OTLP_HEADERS: 'x-collector-key=secret%20one',
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await collector.close()
})

beforeEach(() => {
  collector.requests.length = 0
  collector.respondWith(DONE)
})

const PROTOBUF = { 'content-type': 'application/x-protobuf' }
const JSON_TYPE = { 'content-type': 'application/json' }

interface Sent {
  readonly headers?: Record<string, string>
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly key?: string | null
  readonly signal?: string
  readonly at?: TestGateway
}

async function send({ headers = PROTOBUF, body, key = gateway.key, signal = 'metrics', at = gateway }: Sent) {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(`${at.baseUrl}/v1/${signal}`, {
    method: 'POST',
    headers: { ...headers, ...authorization },
    body,
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, type: answer.headers.get('content-type'), bytes, text: bytes.toString() }
}

const outcomes = async (): Promise<string> => (await gateway.request('GET', '/metrics')).body

/** The request that the collector got with this text: others may still be under way from the test before. */
const forwarded = (text: string | Uint8Array): Promise<RecordedRequest> =>
  eventually(() => {
    const found = collector.requests.find(({ bytes }) => bytes.equals(Buffer.from(text)))
    if (found === undefined) throw new Error('not forwarded')
    return found
  })

describe('an export of an agent', () => {
  test.each(['metrics', 'logs', 'traces'])('gets the answer of the protocol for %s', async (signal) => {
    const binary = await send({ signal, body: Buffer.from([0x0a, 0x00]) })
    expect([binary.status, binary.type, binary.bytes.length]).toEqual([200, 'application/x-protobuf', 0])
    const json = await send({ signal, headers: JSON_TYPE, body: '{}' })
    expect([json.status, json.type, json.text]).toEqual([200, 'application/json; charset=utf-8', '{}'])
  })

  test('reaches the collector of the operator as it was sent, with who sent it, and without the key', async () => {
    const packed = gzipSync('{"resourceMetrics":[]}')
    const headers = {
      ...JSON_TYPE,
      'content-encoding': 'gzip',
      'x-parkway-user': 'user-forged',
      cookie: 'a=b',
    }
    expect((await send({ headers, body: new Uint8Array(packed) })).status).toBe(200)
    const arrived = await forwarded(packed)
    expect([arrived.method, arrived.path]).toEqual(['POST', '/collector/v1/metrics'])
    expect(arrived.headers).toMatchObject({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-collector-key': 'secret one',
      'x-parkway-account': expect.stringMatching(/^org-[0-9a-f]{32}$/),
    })
    for (const name of ['authorization', 'x-api-key', 'cookie', 'x-parkway-user'])
      expect(arrived.headers).not.toHaveProperty(name)
    expect(JSON.stringify(arrived.headers)).not.toContain(gateway.key)
  })

  test('names the person whose key it is', async () => {
    const person = await joinAccount(gateway, { email: 'ada@example.com', role: 'owner' })
    await person.request('POST', '/v1/logs', { of: 'a person' })
    const { headers } = await forwarded('{"of":"a person"}')
    expect(headers).toMatchObject({ 'x-parkway-user': person.id })
  })

  test('is taken while the collector fails, and the client does not notice', async () => {
    collector.respondWith({ status: 503, chunks: ['no'] })
    expect((await send({ body: Buffer.from([0x0a, 0x00]) })).status).toBe(200)
    await eventually(async () =>
      expect(await outcomes()).toMatch(/parkway_agent_exports_total\{signal="metrics",outcome="failed"\} 1/),
    )
  })

  test('does not follow a redirect of the collector', async () => {
    const elsewhere = await startScriptedServer(DONE)
    collector.respondWith({
      status: 307,
      headers: { location: `${elsewhere.baseUrl}/v1/metrics` },
      chunks: [],
    })
    await send({ body: 'redirected' })
    await forwarded('redirected')
    await eventually(async () =>
      expect(await outcomes()).toMatch(/parkway_agent_exports_total\{signal="metrics",outcome="failed"\} 2/),
    )
    expect(elsewhere.requests).toHaveLength(0)
    await elsewhere.close()
  })

  test.each([
    [
      'an export is not gzip',
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
      Buffer.from('{}'),
      /cannot be unpacked/,
    ],
    [
      'an export unpacks to very much',
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
      gzipSync(Buffer.alloc(17 * 1024 * 1024)),
      /more than 16 MiB/,
    ],
    ['an export is packed otherwise', { ...JSON_TYPE, 'content-encoding': 'br' }, Buffer.from('{}'), /gzip/],
    [
      'an export has another type',
      { 'content-type': 'text/plain' },
      Buffer.from('x'),
      /application\/x-protobuf/,
    ],
  ])('says so and passes nothing on if %s', async (_name, headers, body, message) => {
    const { status, text } = await send({ headers, body: new Uint8Array(body) })
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { partialSuccess: { errorMessage: expect.stringMatching(message) } },
    ])
    // Exports of a key go on in their order.
    await send({ body: 'behind it' })
    await forwarded('behind it')
    expect(collector.requests.some(({ bytes }) => bytes.equals(body))).toBe(false)
  })

  test('says in protobuf why it cannot be read', async () => {
    const { bytes } = await send({ headers: { ...PROTOBUF, 'content-encoding': 'gzip' }, body: 'x' })
    const message = 'It cannot be unpacked with gzip.'
    expect([...bytes.subarray(0, 4)]).toEqual([0x0a, message.length + 2, 0x12, message.length])
    expect(bytes.subarray(4).toString()).toBe(message)
  })

  test('is 200 even if it is too large, and says so', async () => {
    const body = new Uint8Array(5 * 1024 * 1024)
    const binary = await send({ body })
    expect([binary.status, binary.text]).toEqual([200, expect.stringContaining('It has more than 4 MiB.')])
    const json = await send({ headers: JSON_TYPE, body })
    const partialSuccess = { errorMessage: 'It has more than 4 MiB.' }
    expect([json.status, JSON.parse(json.text)]).toEqual([200, { partialSuccess }])
  })

  test('is refused in Anthropic’s form if it has no key that counts', async () => {
    const unknown = await send({ key: null, body: 'x' })
    expect([unknown.status, JSON.parse(unknown.text).error.type]).toEqual([401, 'authentication_error'])
  })

  test('is counted for the person whose key it is, in both processes, and for nobody else', async () => {
    const other = await startTestGateway({ connectionString: gateway.connectionString })
    try {
      const person = await joinAccount(gateway, { email: 'counted@example.com', role: 'owner', name: 'Ada' })
      const { body: made } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
      const key = String(made.key)
      for (const at of [gateway, other])
        for (const signal of ['metrics', 'logs', 'logs']) await send({ key, at, signal, body: 'abcde' })
      await send({ key, at: other, headers: { 'content-type': 'text/plain' }, body: 'x' })
      const at = '/v1/organization/agent_telemetry?limit=100'
      const listed = async () => {
        // Each process writes what it counted, and reads what the others wrote.
        await other.request('GET', at)
        const { body } = await gateway.request('GET', at)
        return body.data.find(({ id }: { id: string }) => id === person.id)
      }
      expect(await listed()).toEqual({
        object: 'organization.agent_telemetry',
        id: person.id,
        email: 'counted@example.com',
        name: 'Ada',
        active_days: expect.any(Number),
        metrics: 2,
        logs: 4,
        traces: 0,
        refused: 1,
        bytes: 31,
        last_export_at: expect.any(Number),
      })
      // A key of the account is nobody.
      const { body: before } = await gateway.request('GET', at)
      await send({ body: 'of the account' })
      expect((await gateway.request('GET', at)).body.data).toEqual(before.data)
      const { body: page } = await gateway.request('GET', at.replace('100', '1'))
      const { body: next } = await gateway.request('GET', `${at}&after=${page.last_id}`)
      expect([page.data.length, next.data.some(({ id }: { id: string }) => id === page.last_id)]).toEqual([
        1,
        false,
      ])
    } finally {
      await other.close()
    }
  })

  test('is counted until the person leaves, and is shown to nobody without usage.read', async () => {
    const [leaver, reader] = [
      await joinAccount(gateway, { email: 'leaver@example.com', role: 'owner' }),
      await joinAccount(gateway, { email: 'reader@example.com', role: 'reader' }),
    ]
    const at = '/v1/organization/agent_telemetry'
    const ids = async () => (await gateway.request('GET', at)).body.data.map(({ id }: { id: string }) => id)
    await leaver.request('POST', '/v1/metrics', {})
    expect(await ids()).toContain(leaver.id)
    expect((await reader.request('GET', at)).status).toBe(403)
    await gateway.request('DELETE', `/v1/organization/users/${leaver.id}`)
    expect(await ids()).not.toContain(leaver.id)
  })

  test('is passed on for metrics only where nothing may be stored', async () => {
    const at = '/v1/organization/data_retention'
    await gateway.request('POST', at, { body: { retention_type: 'zero_data_retention' } })
    try {
      for (const signal of ['logs', 'traces', 'metrics']) await send({ signal, body: 'nothing stored' })
      expect((await forwarded('nothing stored')).path).toBe('/collector/v1/metrics')
      expect(collector.requests.filter(({ text }) => text === 'nothing stored')).toHaveLength(1)
    } finally {
      await gateway.request('POST', at, { body: { retention_type: 'modified_abuse_monitoring' } })
    }
  })
})

test('without a collector exports are counted', async () => {
  const plain = await startTestGateway()
  try {
    const { status } = await send({ at: plain, key: plain.key, headers: JSON_TYPE, body: '{}' })
    expect(status).toBe(200)
  } finally {
    await plain.close()
  }
})
