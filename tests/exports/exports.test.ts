import { gunzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createS3Store } from '../../src/storage/media-store/s3-store.ts'
import { startS3Server, type S3Server } from '../../src/storage/media-store/testing/s3-server.ts'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startScriptedServer, type ScriptedServer } from '../upstreams/scripted-server.ts'
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.ts'

const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
const TAKEN = { headers: { 'content-type': 'application/json' }, chunks: ['{}'] }

let s3: S3Server
let collector: ScriptedServer
let hook: ScriptedServer
let kafka: KafkaBroker
let gateway: TestGateway
let account: TestAccount
/** Request ids in the order of their answers. */
const chats: string[] = []
let refused: string

beforeAll(async () => {
  ;[s3, collector, hook, kafka] = await Promise.all([
    startS3Server(),
    startScriptedServer(TAKEN),
    startScriptedServer({ status: 204, chunks: [] }),
    startKafkaBroker(),
  ])
  const bucket = {
    kind: 's3',
    url: s3.storeUrl,
    access_key_id: s3.credentials.accessKeyId,
    secret_access_key: 'env:BUCKET_SECRET',
    collect_seconds: 0,
  }
  gateway = await startTestGateway({
    settings: {
      BUCKET_SECRET: s3.credentials.secretAccessKey,
      PARKWAY_EXPORTS: JSON.stringify({
        lake: bucket,
        columns: { ...bucket, url: s3.storeUrl.replace('/files', '/columns'), format: 'parquet' },
        collector: { kind: 'otlp', url: collector.baseUrl, headers: { 'x-token': 'secret-token' } },
        hook: { kind: 'webhook', url: `${hook.baseUrl}/hook`, secret: SECRET },
        stream: { kind: 'kafka', brokers: [kafka.address], topic: 'requests', requests: 'charged' },
      }),
    },
  })
  await eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/admin/exports')
    expect(body.data.every(({ status }: { status: string }) => status === 'running')).toBe(true)
  })
  account = await createAccount(gateway, { creditUsd: 5 })
  for (let index = 0; index < 3; index += 1) chats.push(await chat('gpt-5.4-mini', 200))
  refused = await chat('no-such-model', 404)
})

afterAll(async () => {
  await gateway.close()
  await Promise.all([s3.close(), collector.close(), hook.close(), kafka.stop()])
})

async function chat(model: string, expected: number): Promise<string> {
  const { status, headers } = await gateway.request('POST', '/v1/chat/completions', {
    key: account.key,
    headers: { 'x-gateway-tags': 'team=search' },
    body: { model, messages: [{ role: 'user', content: 'a secret prompt' }] },
  })
  expect(status).toBe(expected)
  return headers.get('x-request-id') ?? ''
}

// oxlint-disable-next-line typescript/no-explicit-any -- what a receiver gets
type Received = any

const ofAccount = (requests: readonly Received[]): Received[] =>
  requests.filter(({ account_id }) => account_id === account.accountId)

function hooked(): Received[] {
  return ofAccount(hook.requests.flatMap(({ body }) => (body as Received).data))
}

/** Requests that did not fail come in the order in which they were recorded; those without a charge are written by themselves. */
function expectAll(received: readonly Received[]): void {
  const charged = received.filter(({ charged }) => charged).map(({ request_id }) => request_id)
  expect(charged).toEqual(chats)
  expect(new Set(received.map(({ request_id }) => request_id))).toEqual(new Set([...chats, refused]))
  expect(received).toHaveLength(chats.length + 1)
  const numbers = received.map(({ number }) => number)
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
}

test('a webhook gets every request of the account, signed, without its prompt', async () => {
  await eventually(() => expectAll(hooked()))
  const [first] = hook.requests
  expect(() =>
    new Webhook(SECRET).verify(first?.text ?? '', first?.headers as Record<string, string>),
  ).not.toThrow()
  expect(hook.requests.map(({ text }) => text).join('')).not.toContain('secret prompt')
  expect(hooked().find(({ request_id }) => request_id === chats[0])).toMatchObject({
    object: 'exported_request',
    account_name: 'Ada',
    key_id: account.keyId,
    operation: 'chat',
    model: 'gpt-5.4-mini',
    outcome: 'completed',
    charged: true,
    http_status: 200,
    tags: { team: 'search' },
  })
  expect(hooked().find(({ request_id }) => request_id === refused)).toMatchObject({
    outcome: 'refused',
    charged: false,
    http_status: 404,
    cost_nano_usd: 0,
    requested_model: 'no-such-model',
  })
})

test('cost and tokens are those of the request log', async () => {
  await eventually(() => expectAll(hooked()))
  const { body } = await gateway.request('GET', '/v1/requests', { key: account.key })
  for (const logged of body.data) {
    const exported = hooked().find(({ request_id }) => request_id === logged.request_id)
    expect(exported.cost_nano_usd / 1e9).toBeCloseTo(logged.cost_usd, 9)
    expect(exported.prompt_tokens).toBe(logged.prompt_tokens)
    expect(exported.completion_tokens).toBe(logged.completion_tokens)
    expect(exported.created_at).toBe(logged.created_at)
  }
})

test('a collector gets logs with the names of the GenAI conventions', async () => {
  const records = (): Received[] =>
    collector.requests
      .flatMap(({ bytes }) => JSON.parse(gunzipSync(bytes).toString()).resourceLogs)
      .flatMap(({ scopeLogs }) => scopeLogs[0].logRecords)
      .map((record: Received) => ({ ...record, values: valuesOf(record.attributes) }))
      .filter(({ values }) => values['parkway.account.id'] === account.accountId)
  await eventually(() => expect(records()).toHaveLength(4))
  expect(collector.requests[0]).toMatchObject({ path: '/v1/logs', headers: { 'x-token': 'secret-token' } })
  const byId = new Map(records().map((record) => [record.values['parkway.request.id'], record]))
  expect(byId.get(chats[0])).toMatchObject({
    severityText: 'INFO',
    eventName: 'parkway.request',
    values: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.model': 'gpt-5.4-mini',
      'gen_ai.usage.output_tokens': expect.stringMatching(/^[1-9]/),
      'http.response.status_code': '200',
      'parkway.tag.team': 'search',
    },
  })
  expect(byId.get(refused)).toMatchObject({
    severityText: 'WARN',
    values: { 'error.type': expect.any(String), 'parkway.outcome': 'refused' },
  })
})

function valuesOf(attributes: readonly Received[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

test('a topic gets the requests that it wants, those of an account in one partition', async () => {
  const produced = (): Received[] =>
    kafka.records.map(({ value, ...record }) => ({ ...record, ...JSON.parse(value) }))
  await eventually(() => expect(ofAccount(produced()).map(({ request_id }) => request_id)).toEqual(chats))
  expect(new Set(ofAccount(produced()).map(({ partition }) => partition)).size).toBe(1)
  expect(new Set(ofAccount(produced()).map(({ key }) => key))).toEqual(new Set([account.accountId]))
})

test('a bucket gets compressed lines and Parquet files by the hour', async () => {
  await eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/admin/exports')
    for (const name of ['lake', 'columns'])
      expect(body.data.find((sink: Received) => sink.name === name)).toMatchObject({
        lag_requests: 0,
        failures: 0,
      })
  })
  const lines: string[] = []
  for (const [name, bytes] of await readBucket(s3.storeUrl)) {
    expect(name).toMatch(/^requests\/date=\d{4}-\d\d-\d\d\/hour=\d\d\/part-\d{19}\.jsonl\.gz$/)
    lines.push(...gunzipSync(bytes).toString().trimEnd().split('\n'))
  }
  expectAll(
    ofAccount(lines.map((line) => JSON.parse(line))).toSorted((one, other) => one.number - other.number),
  )
  const rows: Received[] = []
  for (const [, bytes] of await readBucket(s3.storeUrl.replace('/files', '/columns')))
    rows.push(...(await readParquetRows(bytes)))
  expectAll(
    ofAccount(rows)
      .map((row) => ({ ...row, number: Number(row.number), charged: row.charged === 1n }))
      .toSorted((one, other) => one.number - other.number),
  )
})

async function readBucket(url: string): Promise<Map<string, Buffer>> {
  const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3')
  const parsed = new URL(url)
  const prefix = `${parsed.pathname.slice(1)}/`
  const client = new S3Client({
    endpoint: parsed.searchParams.get('endpoint') ?? '',
    region: parsed.searchParams.get('region') ?? '',
    credentials: s3.credentials,
    forcePathStyle: true,
  })
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: parsed.hostname, Prefix: prefix }),
  )
  client.destroy()
  const store = createS3Store({ url, credentials: s3.credentials, pathOf: (key) => key })
  const files = new Map<string, Buffer>()
  for (const { Key = '' } of Contents) {
    const name = Key.slice(prefix.length)
    const chunks: Buffer[] = []
    for await (const chunk of (await store.open(name)) ?? []) chunks.push(chunk)
    files.set(name, Buffer.concat(chunks))
  }
  await store.close()
  return files
}

async function readParquetRows(bytes: Buffer): Promise<Received[]> {
  const { parquetReadObjects, parquetMetadataAsync } = await import('hyparquet')
  const buffer = Uint8Array.from(bytes).buffer
  const file = {
    byteLength: buffer.byteLength,
    slice: async (start: number, end?: number) => buffer.slice(start, end),
  }
  const parsers = { timestampFromMicroseconds: (micros: bigint) => micros }
  const metadata = await parquetMetadataAsync(file, { parsers })
  return parquetReadObjects({ file, metadata, parsers, rowStart: 0, rowEnd: Number(metadata.num_rows) })
}

test('operators see how far exports are, and nobody else does', async () => {
  const { body } = await gateway.request('GET', '/v1/admin/exports')
  expect(body.data.map(({ name, kind }: Received) => [name, kind])).toEqual([
    ['collector', 'otlp'],
    ['columns', 's3'],
    ['hook', 'webhook'],
    ['lake', 's3'],
    ['stream', 'kafka'],
  ])
  expect(JSON.stringify(body)).not.toContain('secret-token')
  expect((await gateway.request('GET', '/v1/admin/exports', { key: account.key })).status).toBe(403)
  const metrics = (await gateway.request('GET', '/metrics')).body
  expect(metrics).toMatch(/parkway_export_requests_total\{sink="hook",outcome="sent"\} [1-9]/)
  expect(metrics).toMatch(/parkway_export_lag_seconds\{sink="stream"\} \d/)
})
