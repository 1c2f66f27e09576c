import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, chatBody, openStream, until, type Called } from './call.ts'
import { createWorkplace, isAlive, readServerPid, type Program, type Workplace } from './workplace.ts'

describe('three processes on one port', () => {
  let workplace: Workplace
  let database: TestDatabase
  let program: Program
  let url: string
  let key: string

  beforeAll(async () => {
    workplace = createWorkplace()
    database = await createTestDatabase()
    program = workplace.start(['serve', '--processes', '3'], {
      environment: { DATABASE_URL: database.connectionString },
      nodeOptions: ['--import', fileURLToPath(new URL('./throw-on-signal.ts', import.meta.url))],
    })
    const ready = await program.ready()
    url = ready.url
    key = ready.key ?? ''
  })
  afterAll(async () => {
    await workplace.clean()
    await database.drop()
  })

  it('are announced as one, with one first account and one key', async () => {
    expect(key).toMatch(/^pk-dev-/)
    expect(program.stderr.match(/Base URL/g)).toHaveLength(1)
    const { body } = await call('GET', `${url}/v1/tenants/me/api-keys`, { key })
    expect(body.data.filter(({ is_active: isActive }: { is_active: boolean }) => isActive)).toHaveLength(1)
    const accounts = await call('GET', `${url}/v1/admin/accounts`, { key })
    expect(accounts.body.total).toBe(1)
  })

  it('all answer requests', async () => {
    const pids = await reachAll(program, url, 3, new Set(deadPids(program)))
    expect(pids).not.toContain(program.pid)
  })

  it('are counted together', async () => {
    const before = await countHealthChecks(url)
    await Promise.all(Array.from({ length: 60 }, () => call('GET', `${url}/healthz`)))
    const counts = await Promise.all(Array.from({ length: 6 }, () => countHealthChecks(url)))
    expect(counts).toEqual(Array.from({ length: 6 }, () => before + 60))
  })

  it('all refuse a key as soon as its revocation has been answered', async () => {
    for (let round = 0; round < 5; round += 1) {
      const created = await call('POST', `${url}/v1/tenants/me/api-keys`, {
        key,
        body: { name: 'short-lived' },
      })
      const { id, key: token } = created.body
      const use = () => call('GET', `${url}/v1/tenants/me`, { key: token })
      const statusesOf = async () =>
        new Set((await Promise.all(Array.from({ length: 24 }, use))).map(({ status }) => status))
      expect(await statusesOf()).toEqual(new Set([200]))
      expect((await call('DELETE', `${url}/v1/tenants/me/api-keys/${id}`, { key })).status).toBe(200)
      expect(await statusesOf()).toEqual(new Set([401]))
    }
  })

  it('survive the loss of one of them, which is replaced', async () => {
    const dead = new Set(deadPids(program))
    const pids = await reachAll(program, url, 3, dead)
    const streams = await Promise.all(
      Array.from({ length: 12 }, () =>
        openStream(url, key, '[[sandbox:pace tps=20]] [[sandbox:tokens n=160]]'),
      ),
    )
    const victim = pids[0] ?? 0
    process.kill(victim, 'SIGKILL')
    const texts = await Promise.allSettled(streams.map(({ text }) => text))
    const finished = texts.filter((text) => text.status === 'fulfilled' && text.value.includes('[DONE]'))
    expect(finished.length).toBeGreaterThan(0)
    const chats = () => program.log.filter(({ route }) => route === '/v1/chat/completions')
    await until(() => chats().length === finished.length)
    expect(chats().filter(({ status, pid }) => status !== 200 || pid === victim)).toEqual([])
    await program.waitForLog(
      ({ msg, processPid }) => msg === 'a process died and is replaced' && processPid === victim,
    )

    const body = chatBody('Are you there?')
    const answer = await retryReset(() => call('POST', `${url}/v1/chat/completions`, { key, body }))
    expect(answer.status).toBe(200)
    const replaced = await reachAll(program, url, 3, dead.add(victim))
    expect(replaced).toHaveLength(3)
    expect(program.isRunning).toBe(true)
  })

  it('replace one that crashes, and log its error', async () => {
    const dead = new Set(deadPids(program))
    const [victim = 0] = await reachAll(program, url, 3, dead)
    process.kill(victim, 'SIGUSR2')
    const defect = await program.waitForLog(({ pid, level }) => pid === victim && level === 'error')
    expect(defect).toMatchObject({ err: { message: 'a played defect' } })
    expect(await reachAll(program, url, 3, dead.add(victim))).toHaveLength(3)
  })
})

describe('a supervisor', () => {
  let workplace: Workplace
  beforeEach(async () => {
    workplace = createWorkplace()
    await workplace.prepareDatabase()
  })
  afterEach(() => workplace.clean())

  it('stops all of its processes together, after their streams', async () => {
    const program = workplace.start(['serve', '--processes', '3'])
    const { url, key } = await program.ready()
    const pids = await reachAll(program, url, 3)
    const stream = await openStream(url, key ?? '', '[[sandbox:pace tps=20]] [[sandbox:tokens n=20]]')
    program.kill('SIGTERM')
    expect((await stream.text).trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(pids.filter(isAlive)).toEqual([])
    expect(program.stderr).toMatch(/^(\nThe API key[^]*\n\n)?\nParkway is ready[^]*'\n\n$/)
  })

  it('a supervisor that is killed ends its processes, and the next start adopts the database', async () => {
    const first = workplace.start(['serve', '--processes', '2'])
    const { url, key } = await first.ready()
    const pids = await reachAll(first, url, 2)
    first.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
    await first.exited
    const serverPid = readServerPid(workplace.dataDir)
    expect(serverPid).not.toBeNull()

    const second = workplace.start(['serve', '--processes', '2'], { isGroup: true })
    const again = await second.ready()
    expect(again.key).toBeNull()
    const adoption = await second.waitForLog(({ msg }) => msg === 'database server is ready')
    expect(adoption).toMatchObject({ adopted: true, serverPid })
    expect((await call('GET', `${again.url}/v1/tenants/me`, { key })).status).toBe(200)

    // Ctrl-C reaches every process of the terminal's group.
    const stream = await openStream(again.url, key ?? '', '[[sandbox:pace tps=20]] [[sandbox:tokens n=20]]')
    second.killGroup('SIGINT')
    expect((await stream.text).trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await second.exited).toEqual({ code: 0, signal: null })
    // The banner; the log is on standard output.
    expect(second.stderr.trim()).toMatch(/^Parkway is ready/)
    expect(second.stderr).not.toMatch(/error|warn/i)
    expect(readServerPid(workplace.dataDir)).toBeNull()
  })

  it('a supervisor that gets two signals to stop ends its processes and its database at once', async () => {
    const program = workplace.start(['serve', '--processes', '2'], {
      environment: { PARKWAY_SHUTDOWN_DELAY_MS: '600000' },
    })
    const { url } = await program.ready()
    const pids = await reachAll(program, url, 2)
    await until(() => {
      program.kill('SIGTERM')
      return !program.isRunning
    })
    expect(await program.exited).toEqual({ code: 130, signal: null })
    await until(() => !pids.some(isAlive) && readServerPid(workplace.dataDir) === null)
  })
})

/** Sends requests until the log shows that `count` processes have answered, and returns their pids. */
async function reachAll(
  program: Program,
  url: string,
  count: number,
  without = new Set<number>(),
): Promise<number[]> {
  return until(async () => {
    await Promise.allSettled(Array.from({ length: 16 }, () => call('GET', `${url}/healthz`)))
    const pids = program.log.filter(({ msg }) => msg === 'request').map(({ pid }) => Number(pid))
    const alive = [...new Set(pids)].filter((pid) => !without.has(pid))
    return alive.length >= count && alive
  })
}

function deadPids(program: Program): number[] {
  return program.log
    .filter(({ msg }) => msg === 'a process died and is replaced')
    .map(({ processPid }) => Number(processPid))
}

async function countHealthChecks(url: string): Promise<number> {
  const { body } = await call('GET', `${url}/metrics`)
  const line = /^parkway_requests_total\{[^}]*route="\/healthz"[^}]*\} (\d+)$/m.exec(String(body))
  return Number(line?.[1] ?? 0)
}

/** Retries: the kernel resets connections queued for a killed process, and the next one reaches another process. */
async function retryReset(work: () => Promise<Called>): Promise<Called> {
  return until(() => work().catch(() => null))
}
