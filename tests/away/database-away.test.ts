import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { placePreparedCluster } from '../../src/storage/testing/prepared-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { addModel, askModel } from '../offer/offered-model.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { explainCharges } from '../support/unexplained-charges.ts'

const CHAT = '/v1/chat/completions'
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
const UNAVAILABLE = [503, 'service_unavailable', expect.stringMatching(/^[1-9]\d*$/)]

let dataDir: string
let server: EmbeddedPostgres
let gateway: TestGateway

const startServer = () => startEmbeddedPostgres({ dataDir, logger: silentLogger, durable: false })

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parkway-away-'))
  await placePreparedCluster(dataDir)
  server = await startServer()
  gateway = await startTestGateway({ connectionString: server.connectionString })
})

afterEach(async () => {
  await gateway.close()
  await server.stop()
  await removeDirectory(dataDir)
})

const outcomeOf = ({ status, body, headers }: TestAnswer) => [
  status,
  body.error?.code,
  headers.get('retry-after'),
]
const read = async (path: string) => outcomeOf(await gateway.request('GET', path))
const isReady = async () => (await gateway.request('GET', '/readyz')).status === 200
const waitUntilReady = () => expect.poll(isReady).toBe(true)

describe('a database server that stops', () => {
  test('makes routes that need it unavailable, does not affect others, and recovers', async () => {
    expect((await gateway.request('POST', CHAT, { body: chat })).status).toBe(200)
    await server.stop()

    const keys = '/v1/tenants/me/api-keys'
    const answers = await Promise.all([
      read(keys),
      read('/v1/admin/accounts'),
      gateway.request('POST', keys, { body: { name: 'new', env: 'dev' } }).then(outcomeOf),
      // Without the message bus, the gateway cannot know whether a key was revoked.
      gateway.request('POST', CHAT, { body: chat }).then(outcomeOf),
    ])
    expect(answers).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE])
    expect(await isReady()).toBe(false)
    expect((await gateway.request('GET', '/healthz')).status).toBe(200)

    server = await startServer()
    await waitUntilReady()
    expect((await gateway.request('POST', CHAT, { body: chat })).status).toBe(200)
    const { status, body } = await gateway.request('POST', keys, { body: { name: 'new', env: 'dev' } })
    expect(status).toBe(201)
    expect((await gateway.request('GET', '/v1/models', { key: body.key })).status).toBe(200)
    expect((await gateway.request('DELETE', `${keys}/${body.id}`)).status).toBe(200)
    expect((await gateway.request('GET', '/v1/models', { key: body.key })).status).toBe(401)
  })

  test('does not stop a running stream, which ends when its charge is durable', async () => {
    const content = '[[sandbox:tokens n=400]] [[sandbox:pace tps=100]]'
    const response = await gateway.fetch('POST', CHAT, {
      body: { ...chat, stream: true, messages: [{ role: 'user', content }] },
    })
    let hasEnded = false
    const text = response.text().finally(() => (hasEnded = true))
    await server.stop()
    expect(hasEnded).toBe(false)
    server = await startServer()
    expect(await text).toContain('data: [DONE]')
  })

  test('does not prevent the gateway from stopping', async () => {
    await gateway.request('POST', CHAT, { body: chat })
    await server.stop()
    await gateway.close()
    server = await startServer()
    gateway = await startTestGateway({ connectionString: server.connectionString })
  })

  test('a database server that stops and returns soon is awaited', async () => {
    await gateway.request('GET', '/v1/tenants/me')
    await server.stop()
    const asked = gateway.request('GET', '/v1/tenants/me')
    server = await startServer()
    expect((await asked).status).toBe(200)
  })
})

/** The processes of the server: the first one, named in its file, and its children. */
async function findServerProcesses(): Promise<number[]> {
  const first = Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    }),
  )
  return [first, ...pids.filter((_, index) => parents[index] === first)]
}

describe('a database server that hangs', () => {
  test('holds an answer for the limit of its charge, not for that of a statement', async () => {
    const impatient = await startTestGateway({
      connectionString: server.connectionString,
      settings: { PARKWAY_COMMIT_WAIT_MS: '1000', PARKWAY_STATEMENT_TIMEOUT_MS: '120000' },
    })
    expect((await impatient.request('POST', CHAT, { body: chat })).status).toBe(200)
    const stopped = await findServerProcesses()
    for (const pid of stopped) process.kill(pid, 'SIGSTOP')
    try {
      const startedMs = performance.now()
      const { status, body } = await impatient.request('POST', CHAT, { body: chat })
      expect([status, body.error.code]).toEqual([503, 'service_unavailable'])
      // Half of the limit of a statement, so that a loaded machine does not matter.
      expect(performance.now() - startedMs).toBeLessThan(60_000)
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT')
    }
    await eventually(async () => {
      expect((await impatient.request('POST', CHAT, { body: chat })).status).toBe(200)
    })
    await impatient.close()
  })
})

describe('a database that refuses connections while messages still arrive', () => {
  test('keeps cached keys and added models working at their last known price, and answers wait for their charge', async () => {
    const added = await addModel(gateway, 'added')
    expect(added.status).toBe(201)
    const before = await askModel(gateway, 'added')
    expect([before.status, before.body.usage.cost_usd > 0]).toEqual([200, true])
    const url = new URL(server.connectionString)
    url.pathname = '/template1'
    const operator = new Client({ connectionString: url.href })
    await operator.connect()
    let answered: Promise<TestAnswer> | null = null
    try {
      await operator.query('ALTER DATABASE postgres WITH ALLOW_CONNECTIONS false')
      await operator.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parkway'`,
      )
      expect(await read('/v1/admin/accounts')).toEqual(UNAVAILABLE)
      answered = askModel(gateway, 'added')
      const stranger = 'pk-dev-NobodyKnowsThisKeyNobodyKnowsThisKeyNobody'
      expect(outcomeOf(await gateway.request('POST', CHAT, { body: chat, key: stranger }))).toEqual(
        UNAVAILABLE,
      )
      expect((await gateway.request('GET', '/readyz')).body).toMatchObject({
        checks: { storage: { status: 'failed' }, messages: { status: 'ok' } },
      })
    } finally {
      await operator.query('ALTER DATABASE postgres WITH ALLOW_CONNECTIONS true')
      await operator.end()
    }
    const answer = await answered
    expect([answer?.status, answer?.headers.get('x-gateway-model')]).toEqual([200, 'added'])
    expect((await explainCharges(server.connectionString)).unexplained).toEqual([])
    await waitUntilReady()
    expect((await gateway.request('GET', '/v1/admin/accounts')).status).toBe(200)
  })
})
