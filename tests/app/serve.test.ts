import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, chatBody } from './call.ts'
import { createWorkplace, readServerPid, SOURCE_PROGRAM, type Workplace } from './workplace.ts'

const run = promisify(execFile)
let workplace: Workplace

beforeAll(() => {
  workplace = createWorkplace()
})
afterAll(() => workplace.clean())

describe('a start without any configuration', () => {
  it('prints all that a first request needs; later starts find the key, the data and the database server', async () => {
    const key = await startFirst()
    await startSecond(key)
    await startAfterKill(key)
  })

  /** Returns the key of the first account. */
  async function startFirst(): Promise<string> {
    const program = workplace.start(['serve'], { main: SOURCE_PROGRAM })
    const ready = await program.ready()
    const key = ready.key ?? ''
    expect(ready.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(key).toMatch(/^pk-dev-[A-Za-z0-9]{43}$/)
    expect(program.stderr).toContain(`Docs       ${ready.url}/docs`)

    const { stdout } = await run('sh', ['-c', `${ready.curl} --silent`])
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion', model: 'gpt-5.6-luna' })
    const docs = await call('GET', `${ready.url}/docs`)
    expect([docs.status, String(docs.body).slice(0, 15).toLowerCase()]).toEqual([200, '<!doctype html>'])
    const account = await call('GET', `${ready.url}/v1/tenants/me`, { key })
    // The initial credit minus the cost of the example request.
    expect(account.body.balance_usd).toBeCloseTo(10, 2)
    expect(account.body.balance_usd).toBeLessThan(10)

    program.kill('SIGTERM')
    expect(await program.exited).toMatchObject({ code: 0 })
    expect(program.stderr).toMatch(/^(\nThe API key[^]*\n\n)?\nParkway is ready[^]*'\n\n$/)
    expect(readServerPid(workplace.dataDir)).toBeNull()
    return key
  }

  /** Another gateway on the same data is refused. Ends with a kill. */
  async function startSecond(key: string): Promise<void> {
    const program = workplace.start(['serve'], { main: SOURCE_PROGRAM })
    const ready = await program.ready()
    expect(ready.key).toBeNull()
    expect(program.stdout + program.stderr).not.toContain('pk-')
    const answer = await call('POST', `${ready.url}/v1/chat/completions`, { key, body: chatBody('Hello') })
    expect(answer.status).toBe(200)

    const second = await workplace.run(['serve'], { main: SOURCE_PROGRAM })
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(
      new RegExp(
        `^parkway: Another gateway \\(process ${program.pid}\\) already uses .*data\\. Stop it first.*\n$`,
      ),
    )
    expect((await call('GET', `${ready.url}/readyz`)).status).toBe(200)
    program.kill('SIGKILL')
    await program.exited
  }

  async function startAfterKill(key: string): Promise<void> {
    const serverPid = readServerPid(workplace.dataDir)
    expect(serverPid).not.toBeNull()
    const program = workplace.start(['serve'], { main: SOURCE_PROGRAM })
    const { url } = await program.ready()
    expect(await program.waitForLog(({ msg }) => msg === 'database server is ready')).toMatchObject({
      adopted: true,
      serverPid,
    })
    expect((await call('GET', `${url}/v1/tenants/me`, { key })).status).toBe(200)
    program.kill('SIGINT')
    expect(await program.exited).toMatchObject({ code: 0 })
    expect(readServerPid(workplace.dataDir)).toBeNull()
  }
})

describe('the first account', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  it('has its key and its credit from the environment, in the database of DATABASE_URL', async () => {
    const key = 'pk-test-GivenGivenGivenGivenGivenGivenGiven'
    const program = workplace.start(['serve', '--port', '0'], {
      environment: {
        DATABASE_URL: database.connectionString,
        PARKWAY_BOOTSTRAP_KEY: key,
        PARKWAY_BOOTSTRAP_CREDIT_USD: '2.5',
        PARKWAY_DATA_DIR: workplace.path('unused'),
      },
    })
    const ready = await program.ready()
    expect(program.stdout + program.stderr).not.toContain(key)
    const account = await call('GET', `${ready.url}/v1/tenants/me`, { key })
    expect(account).toMatchObject({ status: 200, body: { balance_usd: 2.5 } })
    const { stdout } = await run('sh', ['-c', `${ready.curl} --silent`], {
      env: { ...process.env, PARKWAY_BOOTSTRAP_KEY: key },
    })
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' })
    program.kill('SIGTERM')
    expect(await program.exited).toMatchObject({ code: 0 })
    expect(readServerPid(workplace.path('unused'))).toBeNull()
  })
})
