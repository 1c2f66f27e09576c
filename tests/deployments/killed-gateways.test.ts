import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { postCharges } from '../../src/modules/ledger/ledger.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startRestartablePostgres, type RestartablePostgres } from '../ledger/restartable-postgres.ts'
import { startFleet, type Fleet } from '../ledger/start-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { testSeed } from '../support/random-share.ts'
import { ORDER } from './deploy.ts'
import { findOverlapping, findWronglyBilled, MortalFleet, type RunRow } from './mortal-fleet.ts'

const BREAKS = longOr(24, 3)
/** One break out of this many restarts the database. The others kill a gateway. */
const RESTART_EVERY = longOr(4, 3)
const DEPLOYMENTS = longOr(20, 8)
/** The number of breaks limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_200_000
const TIERS = ['l4_24gb', 'rtx4090_24gb', 'l40s_48gb'] as const

let upstream: MeteredUpstream
let postgres: RestartablePostgres
let fleet: Fleet
let mortals: MortalFleet

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
  mortals = new MortalFleet({
    fleet,
    writeOrder: (random) => ({ ...ORDER, gpu_tier: TIERS[random.below(TIERS.length)] }),
  })
  await mortals.start({ gateways: 2, accounts: 2 })
})
afterAll(async () => {
  await fleet.close()
  await postgres.close()
  await upstream.close()
})

describe('deployments while gateways are killed and the database restarts', () => {
  let runs: RunRow[] = []

  beforeAll(async () => {
    let isOver = false
    const users = Array.from({ length: DEPLOYMENTS }, (_, number) =>
      mortals.use(number, () => isOver && hasWorked()),
    )
    await breakThings()
    isOver = true
    await Promise.all(users)
    await mortals.deleteAll()
    await postCharges(fleet.database)
    runs = await mortals.readRuns()
  }, FAR_AWAY_MS)

  test('are created, become ready and answer chats', () => {
    expect(hasWorked()).toBe(true)
    expect(runs.some(({ ready_at: ready }) => ready !== null)).toBe(true)
    expect(fleet.findDefects().filter((text) => !isOfAwayDatabase(text))).toEqual([])
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
    expect(findWronglyBilled(runs)).toEqual([])
    expect(findOverlapping(runs)).toEqual([])
    const charged = runs.reduce((sum, run) => sum + run.charged_nano_usd, 0n)
    expect(charged).toBeGreaterThan(0n)
    expect(await mortals.readSums()).toEqual({ spent: charged, charged, recorded: charged })
  })

  test('have events in which every status change is allowed', async () => {
    expect(await mortals.findIllegalSteps()).toEqual([])
  })

  test('leave a consistent ledger without open holds', async () => {
    expect(await fleet.findDifferences()).toEqual([])
    expect(await mortals.findOpenHolds()).toEqual([])
  })
})

/** The test restarts the database, also while a gateway stops. What was charged is compared with the runs below. */
function isOfAwayDatabase(defect: string): boolean {
  return (
    defect.startsWith('the database cannot be reached') ||
    defect.startsWith('the process stops with charges that could not be written')
  )
}

/** On a slow machine the users go on after the last break, until chats were answered and all deployments were created. */
function hasWorked(): boolean {
  const { answers } = mortals
  return answers.has('chat 200') && (answers.get('create 201') ?? 0) >= DEPLOYMENTS
}

async function breakThings(): Promise<void> {
  const random = createRandom(testSeed, DEPLOYMENTS)
  const replacing: Promise<void>[] = []
  for (let turn = 1; turn <= BREAKS; turn += 1) {
    await delay(1_000 + random.below(3_000))
    if (turn % RESTART_EVERY === 0) await postgres.restart(turn % 8 === 0 ? 'fast' : 'immediate')
    else replacing.push(mortals.replaceOne(random))
  }
  await Promise.all(replacing)
}
