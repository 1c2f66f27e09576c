import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { captureTimers } from '../support/capture-timers.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const SOURCE = resolve(import.meta.dirname, '../../src')
const MODEL = 'gpt-4o-mini'
const ROUNDS = 4

test('the periodic work of a healthy gateway writes no warning to the log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-periodic-'))
  const logFile = join(directory, 'log')
  const timers = captureTimers()
  const ran = new Set<string>()
  try {
    const catalogFile = join(directory, 'catalog.json')
    await writeFile(catalogFile, JSON.stringify({ models: [] }))
    const gateway = await startTestGateway({
      settings: { ...SETTINGS, PARKWAY_CATALOG_FILE: catalogFile },
      logFile,
    })
    const database = connectDatabase({
      connectionString: gateway.connectionString,
      poolSize: 1,
      statementTimeoutMs: 10_000,
    })
    const runAll = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const file of timers.runAll()) ran.add(file)
        await eventually(() => expectIdle(database))
      }
    }
    await leaveTraces(gateway)
    await runAll()
    await expireAll(database)
    await runAll()
    await database.close()
    await gateway.close()
    const warnings = (await readFile(logFile, 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line !== '')
      // The machine of the test may be slow.
      .filter((line) => !line.includes('the event loop stood still'))
    expect(warnings).toEqual([])
    const others = listFilesWithIntervals().filter((file) => !ran.has(file) && !SELDOM.has(file))
    expect(others).toEqual([])
  } finally {
    timers.restore()
    await removeDirectory(directory)
  }
})

const SETTINGS = {
  LOG_LEVEL: 'warn',
  PARKWAY_BODY_STORAGE: 'accounts',
  PARKWAY_SANDBOX_JOB_MS: '1',
}

/** Files whose intervals exist only while something lasts that this test does not do, such as a stream. */
const SELDOM: ReadonlySet<string> = new Set([
  'kernel/deadlines.ts',
  'storage/bus/message-bus.ts',
  'storage/embedded-postgres/claim-data-directory.ts',
  'modules/ledger/journal/charge-writer.ts',
  'modules/ledger/journal/commit-connection.ts',
  'modules/conversations/hold-turn.ts',
  'modules/compare/live/live-sender.ts',
  'http/answers/send-events.ts',
  'app/overview/process-reports.ts',
  'app/build/engine-connections.ts',
  'app/process/gateway-process.ts',
  'app/commands/serve-process.ts',
])

function listFilesWithIntervals(): string[] {
  return globSync('{app,http,modules,storage,worker,kernel,telemetry}/**/*.ts', { cwd: SOURCE }).filter(
    (file) =>
      !/\.test\.ts$|\/testing\//.test(file) &&
      readFileSync(join(SOURCE, file), 'utf8').includes('setInterval('),
  )
}

/** Uses every part of the gateway that stores something. */
async function leaveTraces(gateway: TestGateway): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await gateway.request(method, path, { body })
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  await send('PATCH', '/v1/body-storage', { enabled: true, retention_days: 1 })
  await send('POST', '/v1/chat/completions', { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] })
  await send('POST', '/v1/responses', { model: MODEL, input: 'Hi' })
  await send('POST', '/v1/images/generations', { model: 'flux-schnell', prompt: 'A boat' })
  const run = await send('POST', '/v1/compare/runs', { prompts: ['Hi'], models: [MODEL, 'gpt-4o'] })
  await eventually(async () =>
    expect((await send('GET', `/v1/compare/runs/${run.id}`)).status).toBe('completed'),
  )
  const other = await send('POST', '/v1/tenants/me/api-keys', { name: 'other', scopes: ['inference'] })
  await send('DELETE', `/v1/tenants/me/api-keys/${other.id}`)
  const refused = await gateway.request('POST', '/v1/chat/completions', { body: { model: 'unknown-model' } })
  expect(refused.status).toBe(400)
}

/** Makes everything that is kept for a time expire, except keys and the leases of living processes. */
async function expireAll(database: Database): Promise<void> {
  const tables = await database.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'parkway' AND column_name = 'expires_at' AND table_type = 'BASE TABLE'
       AND table_name NOT IN ('api_keys', 'borrowers')`,
  )
  expect(tables.length).toBeGreaterThan(3)
  for (const { table_name: table } of tables)
    await database.query(
      `UPDATE ${table} SET expires_at = now() - interval '1 second' WHERE expires_at IS NOT NULL`,
    )
}

async function expectIdle(database: Database): Promise<void> {
  const busy = await database.query(
    `SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
  )
  expect(busy).toEqual([])
}
