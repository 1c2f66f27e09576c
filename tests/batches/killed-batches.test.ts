import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, until, type Called } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startRestartablePostgres, type RestartablePostgres } from '../ledger/restartable-postgres.ts'
import { MODEL, startFleet, type Fleet, type Gateway, type Spender } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const KILLS = longOr(20, 2)
const LINES = longOr(5_000, 120)
/** Each serves requests and works on batches. */
const PROCESSES = longOr(3, 1)
/** In the long form every fourth kill is one of PostgreSQL. */
const DATABASE_KILL_EVERY = 4
const CREDIT_USD = 100
const CHAT = '/v1/chat/completions'

let upstream: MeteredUpstream
let fleet: Fleet
let postgres: RestartablePostgres | null = null
let gateways: Gateway[]

beforeAll(async () => {
  upstream = await startMeteredUpstream({ latencyMs: () => 50 + randomShare() * 600 })
  if (PROCESSES > 1) postgres = await startRestartablePostgres()
  fleet = await startFleet({
    upstream,
    environment: { PARKWAY_LEASE_MS: '1000' },
    ...(postgres !== null && { connectionString: postgres.connectionString }),
  })
  gateways = await Promise.all(Array.from({ length: PROCESSES }, () => fleet.start()))
})
afterAll(async () => {
  await fleet.close()
  await postgres?.close()
  await upstream.close()
})

/** Kills a process, or the database, and starts it again. */
async function killOne(kill: number): Promise<void> {
  if (postgres !== null && kill % DATABASE_KILL_EVERY === DATABASE_KILL_EVERY - 1)
    return postgres.restart('immediate')
  const index = Math.floor(randomShare() * gateways.length)
  const victim = gateways[index]?.program
  victim?.kill('SIGKILL')
  await victim?.exited
  gateways[index] = await fleet.start()
}

describe('a batch whose processes are killed at random', () => {
  let spender: Spender
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  let batch: any

  const ask = (method: string, path: string, body?: unknown): Promise<Called> =>
    call(method, `${gateways[0]?.url}${path}`, { key: spender.key, body })

  beforeAll(async () => {
    spender = await fleet.createSpender({ creditUsd: CREDIT_USD })
    const lines = Array.from({ length: LINES }, (_, index) =>
      JSON.stringify({
        custom_id: `line ${index}`,
        method: 'POST',
        url: CHAT,
        body: { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: `prompt ${index}` }] },
      }),
    )
    const file = Buffer.from(lines.join('\n')).toString('base64')
    const { body: uploaded } = await ask('POST', '/v1/files', { purpose: 'batch', file })
    const { body: made } = await ask('POST', '/v1/batches', {
      input_file_id: uploaded.id,
      endpoint: CHAT,
      completion_window: '24h',
    })
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = upstream.requests.length
      await until(() => upstream.requests.length > before)
      await delay(randomShare() * 700)
      await killOne(kill)
    }
    batch = await until(async () => {
      const { body: now } = await ask('GET', `/v1/batches/${made.id}`)
      return now?.status === 'completed' || now?.status === 'failed' ? now : null
    })
  }, 900_000)

  test('ends with every line answered exactly once', async () => {
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: LINES, completed: LINES, failed: 0 },
      error_file_id: null,
    })
    const { body: text } = await ask('GET', `/v1/files/${batch.output_file_id}/content`)
    const results = String(text)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(results).toHaveLength(LINES)
    expect(new Set(results.map(({ custom_id: id }) => id)).size).toBe(LINES)
    // Some lines were asked again, because the process that asked them was killed.
    expect(upstream.requests.length).toBeGreaterThan(LINES)
    const { body: files } = await ask('GET', '/v1/files?purpose=batch_output')
    expect(files.data.map(({ id }: { id: string }) => id)).toEqual([batch.output_file_id])
  })

  test('is charged once for each line, and its cost is the sum of the charges', async () => {
    const charges = await fleet.readCharges(spender.accountId)
    expect(charges.filter(({ outcome }) => outcome === 'completed')).toHaveLength(LINES)
    const chargedNanoUsd = charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)
    expect(BigInt(Math.round(batch.cost_usd * 1e9))).toBe(chargedNanoUsd)
    const { body: account } = await ask('GET', '/v1/tenants/me')
    expect(account.balance_usd).toBeCloseTo(CREDIT_USD - batch.cost_usd, 9)
    expect(await fleet.findDifferences()).toEqual([])
    expect(fleet.findDefects()).toEqual([])
  })
})
