import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { gpuCost } from '../../src/modules/deployments/gpu-cost.ts'
import { postCharges } from '../../src/modules/ledger/ledger.ts'
import { call, until, type Called } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startRestartablePostgres, type RestartablePostgres } from '../ledger/restartable-postgres.ts'
import { startFleet, type Fleet, type Gateway } from '../ledger/start-fleet.ts'
import { ORDER } from './deploy.ts'
import { findIllegalSteps, type EventRow } from './legal-steps.ts'

/** `PARKWAY_KILL_TEST_MS` sets the duration, and `PARKWAY_KILL_TEST_SEED` the random choices. */
const WINDOW_MS = Number(process.env['PARKWAY_KILL_TEST_MS'] ?? 35_000)
const SEED = Number(process.env['PARKWAY_KILL_TEST_SEED'] ?? 1)
const FAR_AWAY_MS = WINDOW_MS + 1_200_000
const GATEWAYS = 2
const DEPLOYMENTS = 20
const ACCOUNTS = 2
const TIERS = ['l4_24gb', 'rtx4090_24gb', 'l40s_48gb'] as const

let upstream: MeteredUpstream
let postgres: RestartablePostgres
let fleet: Fleet
const gateways: (Gateway | null)[] = []

beforeAll(async () => {
  upstream = await startMeteredUpstream()
  postgres = await startRestartablePostgres()
  fleet = await startFleet({
    upstream,
    connectionString: postgres.connectionString,
    environment: {
      PARKWAY_SANDBOX: 'everybody',
      PARKWAY_SANDBOX_GPU_START_MS: '1500',
      PARKWAY_GPU_SLICE_SECONDS: '1',
      PARKWAY_GPU_DRAIN_MS: '1000',
      PARKWAY_GPU_WAKE_MS: '3000',
      PARKWAY_LEASE_MS: '2000',
      LOG_LEVEL: 'warn',
    },
  })
  for (let count = 0; count < GATEWAYS; count += 1) gateways.push(await fleet.start())
})
afterAll(async () => {
  await fleet.close()
  await postgres.close()
  await upstream.close()
})

interface Owner {
  readonly accountId: string
  readonly key: string
}

interface RunRow {
  readonly id: string
  readonly deployment_id: string
  readonly price_per_hour_nano_usd: bigint
  readonly bound_at: Date | null
  readonly ready_at: Date | null
  readonly released_at: Date | null
  readonly billed_seconds: bigint
  readonly charged_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly is_held: boolean
}

describe('20 deployments while gateways are killed and the database restarts', () => {
  const owners: Owner[] = []
  const answers = new Map<string, number>()
  let runs: RunRow[] = []

  beforeAll(async () => {
    for (let count = 0; count < ACCOUNTS; count += 1) owners.push(await createOwner())
    const endMs = performance.now() + WINDOW_MS
    const users = Array.from({ length: DEPLOYMENTS }, (_, number) => {
      const owner = owners[number % ACCOUNTS]
      return owner === undefined ? null : use(owner, number, answers, endMs)
    })
    await Promise.all([...users, breakThings(endMs)])
    await deleteAll(owners)
    // Another process finishes what a killed process had begun.
    await until(async () => (await readOpen()) === 0)
    await postCharges(fleet.database)
    runs = await fleet.database.query<RunRow>(
      'SELECT * FROM deployment_runs ORDER BY deployment_id, bound_at',
    )
  }, FAR_AWAY_MS)

  test('are created, become ready and answer chats', () => {
    expect(answers.get('chat 200')).toBeGreaterThan(0)
    expect(answers.get('create 201')).toBeGreaterThanOrEqual(DEPLOYMENTS)
    expect(runs.filter(({ ready_at: ready }) => ready !== null).length).toBeGreaterThan(DEPLOYMENTS / 2)
    expect(fleet.findDefects()).toEqual([])
  })

  test('release every machine, and launch none without a stored run', async () => {
    const machines = await fleet.database.query<{ instance_id: string; released_at: Date | null }>(
      `SELECT instance_id, released_at FROM sandbox_machines WHERE failure IS DISTINCT FROM 'capacity_exhausted'`,
    )
    expect(machines.filter(({ released_at: released }) => released === null)).toEqual([])
    const known = new Set(runs.map(({ id }) => id))
    expect(machines.filter(({ instance_id: id }) => !known.has(id))).toEqual([])
  })

  test('are billed once for every second with a GPU, and not for starts that never became ready', async () => {
    const wrong = runs.filter((run) => {
      const seconds = run.ready_at === null ? 0 : secondsOf(run)
      const cost = gpuCost(run.price_per_hour_nano_usd, seconds)
      return (
        Number(run.billed_seconds) !== seconds ||
        run.charged_nano_usd + run.uncovered_nano_usd !== cost ||
        run.is_held
      )
    })
    expect(wrong).toEqual([])
    const overlapping = runs.filter((run, index) => {
      const next = runs[index + 1]
      if (next?.deployment_id !== run.deployment_id || next.bound_at === null || run.released_at === null)
        return false
      return next.bound_at < run.released_at
    })
    expect(overlapping).toEqual([])
    const sums = await fleet.database.query<{ spent: bigint; charged: bigint; recorded: bigint }>(
      `SELECT (SELECT sum(spent_nano_usd) FROM deployments)::bigint AS spent,
         (SELECT sum(charged_nano_usd) FROM deployment_runs)::bigint AS charged,
         (SELECT sum(cost_nano_usd) FROM usage_records WHERE operation = 'gpu')::bigint AS recorded`,
    )
    const charged = runs.reduce((sum, run) => sum + run.charged_nano_usd, 0n)
    expect(charged).toBeGreaterThan(0n)
    expect(sums).toEqual([{ spent: charged, charged, recorded: charged }])
  })

  test('have events in which every status change is allowed', async () => {
    const events = await fleet.database.query<EventRow>(
      'SELECT deployment_id, type, from_status, to_status FROM deployment_events ORDER BY number',
    )
    expect(findIllegalSteps(events)).toEqual([])
  })

  test('leave a consistent ledger without open holds', async () => {
    expect(await fleet.findDifferences()).toEqual([])
    const held = await fleet.database.query(
      `SELECT key FROM credit_holds WHERE status = 'open' AND starts_with(key, 'gpu:')`,
    )
    expect(held).toEqual([])
  })
})

function secondsOf({ bound_at: bound, released_at: released }: RunRow): number {
  if (bound === null || released === null) return 0
  return Math.max(0, Math.ceil((released.getTime() - bound.getTime()) / 1000))
}

async function createOwner(): Promise<Owner> {
  const { body: account } = await fleet.manage('POST', '/v1/admin/accounts', { name: 'Ada', credit_usd: 100 })
  const { body: key } = await fleet.manage('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    env: 'dev',
    scopes: ['inference', 'manage'],
  })
  return { accountId: account.id, key: key.key }
}

/** A client that creates, starts, stops, deletes and calls a deployment at random, and ignores refusals. */
async function use(
  { key }: Owner,
  number: number,
  answers: Map<string, number>,
  endMs: number,
): Promise<void> {
  const random = createRandom(SEED, number)
  const send = async (name: string, method: string, path: string, body?: unknown): Promise<Called | null> => {
    const { url } = await until(() => gateways[random.below(gateways.length)])
    // The connection breaks if its process is killed.
    const answer = await call(method, url + path, { key, body }).catch(() => null)
    const outcome = `${name} ${answer?.status ?? 'cut'}`
    answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
    return answer
  }
  let id: string | null = null
  while (performance.now() < endMs) {
    await delay(random.below(400))
    if (id === null) {
      const order = { ...ORDER, gpu_tier: TIERS[random.below(TIERS.length)] }
      id = (await send('create', 'POST', '/v1/deployments', order))?.body.id ?? null
      continue
    }
    const path = `/v1/deployments/${id}`
    const act = random.below(10)
    if (act === 0) await send('stop', 'POST', `${path}/stop`)
    else if (act <= 2) await send('start', 'POST', `${path}/start`)
    else if (act === 3) {
      if ((await send('delete', 'DELETE', path))?.status === 200) id = null
    } else {
      const messages = [{ role: 'user', content: 'Hello!' }]
      await send('chat', 'POST', '/v1/chat/completions', {
        model: `byom-${id}`,
        messages,
        stream: act % 2 === 0,
      })
    }
  }
}

async function breakThings(endMs: number): Promise<void> {
  const random = createRandom(SEED, DEPLOYMENTS)
  const replacing: Promise<void>[] = []
  for (let turn = 1; performance.now() < endMs; turn += 1) {
    await delay(1_000 + random.below(3_000))
    if (turn % 4 === 0) await postgres.restart(turn % 8 === 0 ? 'fast' : 'immediate')
    else replacing.push(replaceOne(random.below(gateways.length)))
  }
  await Promise.all(replacing)
}

async function replaceOne(index: number): Promise<void> {
  const victim = gateways[index]
  if (!victim) return
  gateways[index] = null
  victim.program.kill('SIGKILL')
  await victim.program.exited
  // A process that starts while the database restarts may exit. It is started again, as a supervisor would do.
  gateways[index] = await until(() => fleet.start().catch(() => null))
}

/** Includes deployments whose creation response was lost. */
async function deleteAll(owners: readonly Owner[]): Promise<void> {
  for (const { key } of owners)
    await until(async () => {
      const url = gateways[0]?.url ?? ''
      const list = await call('GET', `${url}/v1/deployments?limit=100`, { key }).catch(() => null)
      if (list?.status !== 200) return false
      for (const { id } of list.body.data)
        await call('DELETE', `${url}/v1/deployments/${id}`, { key }).catch(() => null)
      return list.body.data.length === 0
    })
}

async function readOpen(): Promise<number> {
  const [row] = await fleet.database.query<{ open: number }>(
    `SELECT ((SELECT count(*) FROM deployment_runs WHERE released_at IS NULL)
      + (SELECT count(*) FROM deployments WHERE status <> 'deleted'))::int AS open`,
  )
  return row?.open ?? 0
}
