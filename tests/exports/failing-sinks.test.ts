import { createServer as createTcpServer, type Server } from 'node:net'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createKafkaSink } from '../../src/exports/kafka/kafka-sink.ts'
import { createOtlpSink } from '../../src/exports/otlp/otlp-sink.ts'
import { createWebhookSink } from '../../src/exports/webhook/webhook-sink.ts'
import type { ExportSink } from '../../src/exports/export-sink.ts'
import { createId } from '../../src/kernel/identifiers.ts'
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts'
import { eventually } from '../support/eventually.ts'
import {
  startScriptedServer,
  type Reply,
  type ScriptedReply,
  type ScriptedServer,
} from '../upstreams/scripted-server.ts'
import { createExportStage, type ExportStage, type RunningExporter } from './export-stage.ts'
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.ts'

const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
const TAKEN: ScriptedReply = { status: 204, chunks: [] }
const MEBIBYTE = 1024 ** 2

let stage: ExportStage
let outbound: Outbound
let running: RunningExporter | null = null
let name = ''
let count = 0

beforeAll(async () => {
  stage = await createExportStage()
  outbound = createOutbound({ allowedHosts: [] })
})
afterEach(async () => {
  await running?.close()
  running = null
  await stage.database.query('DELETE FROM export_sinks')
  await stage.database.query('DELETE FROM export_queue')
})
afterAll(async () => {
  await outbound.close()
  await stage.close()
})

/** Starts an exporter to one sink, after these requests were written. */
async function exportTo(open: () => ExportSink, requests = 3): Promise<string[]> {
  name = `sink${(count += 1)}`
  await stage.register(name)
  const account = createId()
  const ids = await stage.write(Array.from({ length: requests }, () => account))
  running = await stage.start({ [name]: open })
  return ids.map((id) => `req_${id.replaceAll('-', '')}`)
}

/** In the order of their first delivery. */
const firsts = (ids: readonly string[]): string[] => [...new Set(ids)]

/** Nothing was counted as sent, and its failure is known. */
async function expectFailing(reason: RegExp): Promise<void> {
  await eventually(async () => {
    const state = await stage.state(name)
    expect(state.lastError).toMatch(reason)
    expect(state).toMatchObject({ sent: 0, waiting: 3, isWorkedOn: true })
    expect(state.failures).toBeGreaterThan(1)
  })
}

const expectDone = (): Promise<void> =>
  eventually(async () => {
    expect(await stage.state(name)).toMatchObject({ waiting: 0, failures: 0 })
  })

describe('a webhook that', () => {
  let hook: ScriptedServer
  beforeAll(async () => {
    hook = await startScriptedServer(TAKEN)
  })
  afterAll(() => hook.close())

  const open = (): ExportSink =>
    createWebhookSink({ outbound, name: 'hook', url: `${hook.baseUrl}/`, secret: SECRET })
  const received = (): string[] =>
    firsts(
      hook.requests.flatMap(({ body }) =>
        (body as { data: { request_id: string }[] }).data.map(({ request_id }) => request_id),
      ),
    )

  test.each<[string, Reply, RegExp]>([
    ['answers 500', { status: 500, chunks: ['no'] }, /status 500/],
    ['says that it is too much', { status: 413, chunks: [] }, /status 413/],
    ['leads elsewhere', { status: 302, headers: { location: '/other' }, chunks: [] }, /status 302/],
    [
      'cuts its answer',
      { status: 200, headers: { 'content-length': '9' }, chunks: ['x'], ending: 'cut' },
      /broke off/,
    ],
    ['never answers', { status: 200, chunks: ['x'], ending: 'hang' }, /no confirmation/],
    [
      'sends an endless answer',
      () => ({ status: 200, chunks: [], more: endless() }),
      /larger than 65536 bytes/,
    ],
  ])('%s gets everything once it is well', async (_, reply, reason) => {
    hook.requests.length = 0
    hook.respondWith(reply)
    const written = await exportTo(open)
    await expectFailing(reason)
    hook.respondWith(TAKEN)
    await expectDone()
    expect(received()).toEqual(written)
    expect(await stage.state(name)).toMatchObject({ sent: 3, skipped: 0, refused: 0 })
  })

  test('fails on one large batch gets smaller ones', async () => {
    hook.requests.length = 0
    const isLarge = ({ body }: { body: unknown }): boolean => (body as { data: unknown[] }).data.length > 20
    hook.respondWith((request) => (isLarge(request) ? { status: 413, chunks: [] } : TAKEN))
    const written = await exportTo(open, 100)
    await expectDone()
    const taken = hook.requests.filter((request) => !isLarge(request))
    expect(
      taken.flatMap(({ body }) =>
        (body as { data: { request_id: string }[] }).data.map(({ request_id }) => request_id),
      ),
    ).toEqual(written)
    expect(new Set(hook.requests.map(({ headers }) => headers['webhook-id'])).size).toBeGreaterThan(5)
  })
})

async function* endless(): AsyncGenerator<Uint8Array, void> {
  for (;;) yield new Uint8Array(64 * 1024)
}

test('what a collector refuses for ever is counted and not sent again', async () => {
  const collector = await startScriptedServer({
    headers: { 'content-type': 'application/json' },
    chunks: ['{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}'],
  })
  const resource = { serviceName: 'parkway', serviceVersion: '1', attributes: {} }
  await exportTo(() => createOtlpSink({ outbound, url: collector.baseUrl, headers: {}, resource }))
  await expectDone()
  expect(await stage.state(name)).toMatchObject({ sent: 1, refused: 2 })
  expect(collector.requests).toHaveLength(1)
  await collector.close()
})

describe('a broker that', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafkaBroker()
  })
  afterEach(() => {
    kafka.mood = 'keep'
  })
  afterAll(() => kafka.stop())

  const open = (): ExportSink =>
    createKafkaSink({ brokers: [kafka.address], topic: 'requests', hasTls: false, signIn: null })
  const received = (from: number): string[] =>
    firsts(kafka.records.slice(from).map(({ value }) => JSON.parse(value).request_id))

  test('is away gets everything in its order when it is back', async () => {
    const from = kafka.records.length
    await kafka.stop()
    const written = await exportTo(open)
    await expectFailing(/./)
    await kafka.start()
    await expectDone()
    expect(received(from)).toEqual(written)
  })

  test.each([
    ['has too few replicas', 'refuse', /./],
    ['keeps a batch and never says so', 'silent', /no confirmation/],
    ['floods its client', 'flood', /./],
  ] as const)('%s gets everything once it is well', async (_, mood, reason) => {
    const from = kafka.records.length
    const before = process.memoryUsage()
    kafka.mood = mood
    const written = await exportTo(open)
    await expectFailing(reason)
    const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers
    expect(grown).toBeLessThan(200 * MEBIBYTE)
    kafka.mood = 'keep'
    await expectDone()
    expect(received(from)).toEqual(written)
  })
})

test('a server that is no broker is an error with a reason', async () => {
  const server: Server = createTcpServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0
  await exportTo(() =>
    createKafkaSink({ brokers: [`127.0.0.1:${port}`], topic: 'requests', hasTls: false, signIn: null }),
  )
  await expectFailing(/./)
  server.close()
})
