import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import type { TestDatabase } from '../../src/storage/testing/test-database.ts'
import { createWorkplace, type Program, type Workplace } from '../app/workplace.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createOldDatabase, OLD } from './old-database.ts'
import { hasRelease, unpackRelease } from './unpack-release.ts'

/** The release with migration 0015. */
const OLD_COMMIT = 'a49cb99e6fe1aa10e7cafce06f7d3e39756c1e67'

describe.skipIf(!hasRelease(OLD_COMMIT))('the previous release and this one on one database', () => {
  let database: TestDatabase
  let workplace: Workplace
  let program: Program
  let oldUrl: string
  let gateway: TestGateway

  beforeAll(async () => {
    database = await createOldDatabase()
    workplace = createWorkplace()
    const { connectionString } = database
    program = workplace.start(['serve'], {
      main: unpackRelease(OLD_COMMIT, workplace.path('old')),
      environment: { DATABASE_URL: connectionString, PARKWAY_DATA_DIR: workplace.dataDir },
    })
    oldUrl = await program.waitForOutput((text) => /Base URL +(\S+)\/v1/.exec(text)?.[1])
    // Migrates like the start of this release, while the other release runs.
    await migrate({ connectionString, logger: silentLogger })
    gateway = await startTestGateway({ connectionString, key: OLD.operatorKey })
  })

  afterAll(async () => {
    await gateway?.close()
    await workplace?.clean()
    await database?.drop()
  })

  const askOld = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(oldUrl + path, {
      method,
      headers: { authorization: `Bearer ${OLD.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
    const parsed: any = text.startsWith('{') ? JSON.parse(text) : text
    return { status: answer.status, body: parsed }
  }
  const ask = (method: string, path: string, body?: unknown) =>
    gateway.request(method, path, { key: OLD.key, ...(body === undefined ? {} : { body }) })
  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
  const picture = { model: 'flux-schnell', prompt: 'A cube' }

  test('the old one keeps answering, streaming, creating keys and doing tasks', async () => {
    expect((await askOld('POST', '/v1/chat/completions', chat)).status).toBe(200)
    const streamed = await askOld('POST', '/v1/chat/completions', { ...chat, stream: true })
    expect(streamed.body).toContain('data: [DONE]')
    expect((await askOld('POST', '/v1/tenants/me/api-keys', { name: 'made by the old one' })).status).toBe(
      201,
    )
    expect((await askOld('GET', '/v1/tenants/me')).status).toBe(200)
    expect((await askOld('GET', '/v1/usage/records')).status).toBe(200)
    const { body: task } = await askOld('POST', '/v1/images/generations', picture)
    await expect
      .poll(async () => (await askOld('GET', `/v1/tasks/${task.id}?wait=10`)).body.status)
      .toBe('completed')
  })

  test('a key that one creates works at the other, and charges of either count at both', async () => {
    const { body: key } = await ask('POST', '/v1/tenants/me/api-keys', { name: 'made by the new one' })
    const seen = await askOld('GET', '/v1/tenants/me/api-keys')
    expect(seen.body.data).toEqual(expect.arrayContaining([expect.objectContaining({ id: key.id })]))
    await ask('POST', '/v1/chat/completions', chat)
    await askOld('POST', '/v1/chat/completions', chat)
    const [mine, theirs] = [await ask('GET', '/v1/tenants/me'), await askOld('GET', '/v1/tenants/me')]
    expect(mine.body.balance_usd).toBe(theirs.body.balance_usd)
  })

  test('the old one stops normally, and the ledger verifies', async () => {
    program.kill('SIGTERM')
    expect((await program.exited).code).toBe(0)
    expect(program.log.filter(({ level }) => level === 'error' || Number(level) >= 50)).toEqual([])
    const connected = connectDatabase({
      connectionString: database.connectionString,
      poolSize: 1,
      statementTimeoutMs: 30_000,
    })
    try {
      const checks = await verifyLedger(connected)
      expect(checks.flatMap(({ differences }) => differences)).toEqual([])
    } finally {
      await connected.close()
    }
  })
})
