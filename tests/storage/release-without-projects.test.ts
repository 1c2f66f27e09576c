import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createEmptyDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { createWorkplace, type Program, type Workplace } from '../app/workplace.ts'
import { longOr } from '../support/long-or.ts'
import {
  onlyModelOfBoth,
  ROUTES_WITH_ONE_KEY,
  withoutIdsAndTimes,
  withoutNewMembers,
} from './answers-of-one-key.ts'
import { hasRelease, unpackRelease } from './unpack-release.ts'

/** The last release in which an account had no projects, people and budgets. */
const OLD_COMMIT = 'e7db03debe4a23e83950dc11f9f3e05bd5afa818'
const CLIENTS = 8
/** How many requests each of the three phases has at least: before, beside each other, after. */
const REQUESTS_OF_PHASE = longOr(1_500, 60)

interface Started {
  readonly program: Program
  readonly url: string
  readonly key: string
}

type Ask = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly text: string; readonly contentType: string }>

describe.skipIf(!hasRelease(OLD_COMMIT))('an account with one key', () => {
  let workplace: Workplace
  let oldMain: string
  const databases: TestDatabase[] = []

  beforeAll(() => {
    workplace = createWorkplace()
    oldMain = unpackRelease(OLD_COMMIT, workplace.path('old'))
  })
  afterAll(async () => {
    await workplace?.clean()
    await Promise.all(databases.map((database) => database.drop()))
  })

  const createDatabase = async (): Promise<string> => {
    const database = await createEmptyDatabase()
    databases.push(database)
    return database.connectionString
  }
  const start = async (connectionString: string, main?: string): Promise<Started> => {
    const program = workplace.start(['serve'], {
      environment: { DATABASE_URL: connectionString, PARKWAY_DATA_DIR: workplace.dataDir },
      ...(main !== undefined && { main }),
    })
    // A second process on the same database prints no key.
    const url = await program.waitForOutput((text) => /Base URL +(\S+)\/v1/.exec(text)?.[1])
    return { program, url, key: /API key +(pk-\S+)/.exec(program.stdout + program.stderr)?.[1] ?? '' }
  }
  const askerOf =
    ({ url }: Pick<Started, 'url'>, key: string): Ask =>
    async (method, path, body) => {
      const answer = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return {
        status: answer.status,
        text: await answer.text(),
        contentType: answer.headers.get('content-type') ?? '',
      }
    }

  test('is upgraded while old and new processes answer: nothing fails, and keys, balance and history stay', async () => {
    const connectionString = await createDatabase()
    const old = await start(connectionString, oldMain)
    const key = old.key
    const askOld = askerOf(old, key)
    await askOld('POST', '/v1/tenants/me/api-keys', { name: 'second', limit_usd: 3 })
    const keysBefore = JSON.parse((await askOld('GET', '/v1/tenants/me/api-keys')).text).data
    const { balance_usd: balanceBefore } = JSON.parse((await askOld('GET', '/v1/tenants/me')).text)

    // Clients choose among the processes that are there, as behind a load balancer.
    let asks: readonly Ask[] = [askOld]
    const over = new AbortController()
    let done = 0
    let spentNanoUsd = 0
    const failures: string[] = []
    const client = async (number: number): Promise<void> => {
      for (let sent = number; !over.signal.aborted; sent += 1) {
        const ask = asks[sent % asks.length] ?? askOld
        const stream = sent % 3 === 0
        const body = {
          model: 'gpt-5.4-mini',
          messages: [{ role: 'user', content: `${sent}` }],
          max_tokens: 5,
        }
        const { status, text } = await ask('POST', '/v1/chat/completions', {
          ...body,
          ...(stream && { stream, stream_options: { include_usage: true } }),
        })
        const cost = /"cost_usd":([\d.e-]+)/.exec(text)?.[1]
        if (status !== 200 || cost === undefined) failures.push(`${status} ${text.slice(0, 200)}`)
        spentNanoUsd += Math.round(Number(cost) * 1e9)
        done += 1
      }
    }
    const phase = async (): Promise<void> => {
      const until = done + REQUESTS_OF_PHASE
      await expect.poll(() => done >= until, { timeout: 240_000, interval: 50 }).toBe(true)
    }
    const clients = Array.from({ length: CLIENTS }, (_, number) =>
      client(number).catch((error: unknown) => void failures.push(String(error))),
    )
    await phase()
    const current = await start(connectionString)
    const ask = askerOf(current, key)
    asks = [askOld, ask]
    await phase()
    asks = [ask]
    old.program.kill('SIGTERM')
    expect((await old.program.exited).code).toBe(0)
    await phase()
    over.abort()
    await Promise.all(clients)
    expect(failures).toEqual([])

    const keysAfter = JSON.parse((await ask('GET', '/v1/tenants/me/api-keys')).text).data
    const facts = ({ id, name, limit_usd: limit, scopes, env }: Record<string, unknown>) => [
      id,
      name,
      limit,
      scopes,
      env,
    ]
    expect(keysAfter.map(facts)).toEqual(keysBefore.map(facts))
    const account = JSON.parse((await ask('GET', '/v1/tenants/me')).text)
    expect(Math.round((balanceBefore - account.balance_usd) * 1e9)).toBe(spentNanoUsd)
    const today = JSON.parse((await ask('GET', '/v1/usage/summary?window=24h')).text)
    expect([today.requests, Math.round(today.cost_usd * 1e9)]).toEqual([done, spentNanoUsd])
    current.program.kill('SIGTERM')
    await current.program.exited
    const connected = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
    try {
      const checks = await verifyLedger(connected)
      expect(checks.flatMap(({ differences }) => differences)).toEqual([])
    } finally {
      await connected.close()
    }
  }, 600_000)

  test('gets the same answers as before, byte by byte but for ids, times and members that are new', async () => {
    const [old, current] = [await start(await createDatabase(), oldMain), await start(await createDatabase())]
    const [askOld, ask] = [askerOf(old, old.key), askerOf(current, current.key)]
    const different: unknown[] = []
    for (const [method, path, body] of ROUTES_WITH_ONE_KEY) {
      const answers = [await askOld(method, path, body), await ask(method, path, body)]
      const texts = answers.map(({ text }) => (path === '/v1/models' ? onlyModelOfBoth(text) : text))
      const [expected, found] = answers.map(({ status, contentType }, index) => {
        const text = withoutNewMembers(texts[0] ?? '', texts[index] ?? '')
        return withoutIdsAndTimes(`${status} ${contentType} ${text}`)
      })
      if (expected !== found) different.push({ route: `${method} ${path}`, expected, found })
    }
    expect(different).toEqual([])
    expect(ROUTES_WITH_ONE_KEY.length).toBeGreaterThanOrEqual(26)
  }, 300_000)
})
