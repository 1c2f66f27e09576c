import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findTree } from '../../src/gpu/local/process-tree.ts'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { postCharges } from '../../src/modules/ledger/ledger.ts'
import { until } from '../app/call.ts'
import { startMeteredUpstream, type MeteredUpstream } from '../ledger/metered-upstream.ts'
import { startFleet, type Fleet } from '../ledger/start-fleet.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { testSeed } from '../support/random-share.ts'
import { findProcesses } from './found-processes.ts'
import { createModelsDirectory } from './llama-stage.ts'
import { SCRIPTED } from './local-stage.ts'
import { findOverlapping, findWronglyBilled, MortalFleet, type RunRow } from './mortal-fleet.ts'

const KILLS = longOr(12, 2)
/** The number of kills limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_200_000
const DEPLOYMENTS = longOr(5, 3)

let upstream: MeteredUpstream
let models: Awaited<ReturnType<typeof createModelsDirectory>>
let fleet: Fleet
let mortals: MortalFleet

beforeAll(async () => {
  upstream = await startMeteredUpstream()
  models = await createModelsDirectory({ 'acme/tiny/tiny.gguf': createTinyGguf() })
  fleet = await startFleet({
    upstream,
    environment: {
      PARKWAY_GPU_DRIVER: 'local',
      PARKWAY_LOCAL_GPU: JSON.stringify({
        ...SCRIPTED,
        models_dir: models.directory,
        llama_cpp: { parallel: 2, threads: 1 },
        tiers: {
          scripted: { count: DEPLOYMENTS, price_per_hour_usd: 1 },
          llama: { count: 2, price_per_hour_usd: 2, command: [] },
        },
      }),
      PARKWAY_GPU_SLICE_SECONDS: '1',
      PARKWAY_GPU_DRAIN_MS: '500',
      PARKWAY_GPU_WAKE_MS: '3000',
      PARKWAY_LEASE_MS: '2000',
    },
  })
  mortals = new MortalFleet({
    fleet,
    // Engines of llama.cpp take long to start, so that only one user has one.
    writeOrder: (_, number) => ({
      huggingface_id: 'acme/tiny',
      gpu_tier: number === 0 ? 'llama' : 'scripted',
    }),
  })
  await mortals.start({ gateways: 2, accounts: 2 })
})
afterAll(async () => {
  await fleet.close()
  await models.remove()
  await upstream.close()
})

describe('deployments on this machine while gateways are killed', () => {
  let runs: RunRow[] = []

  beforeAll(async () => {
    let isOver = false
    const users = Array.from({ length: DEPLOYMENTS }, (_, number) => mortals.use(number, () => isOver))
    // On a slow machine the first engine takes long to answer.
    await until(() => mortals.answers.has('chat 200'))
    await killGateways()
    isOver = true
    await Promise.all(users)
    await mortals.deleteAll()
    await postCharges(fleet.database)
    runs = await mortals.readRuns()
  }, FAR_AWAY_MS)

  test('are created, become ready and answer chats', () => {
    expect(mortals.answers.get('create 201')).toBeGreaterThan(0)
    expect(runs.filter(({ ready_at: ready }) => ready !== null).length).toBeGreaterThan(0)
    // On a loaded machine the server may accept a connection too late.
    const defects = fleet.findDefects().filter((text) => !text.startsWith('the database cannot be reached'))
    expect(defects).toEqual([])
  })

  test('leave no engine and no keeper, and start none without a stored run', async () => {
    const directory = join(fleet.workplace.dataDir, 'engines', 'instances')
    const instances = await readdir(directory)
    const known = new Set(runs.map(({ id }) => id))
    expect(instances.length).toBeGreaterThan(0)
    expect(instances.filter((id) => !known.has(id))).toEqual([])
    for (const id of instances) {
      expect([id, await findTree(id, null)]).toEqual([id, []])
      // A keeper exits a moment after it has written that its engine has ended.
      await eventually(async () => expect(await findProcesses(join(directory, id))).toEqual([]))
    }
    const { body } = await fleet.manage('GET', '/v1/gpu-tiers/live')
    expect(body.tiers).toMatchObject([
      { id: 'scripted', capacity: String(DEPLOYMENTS) },
      { id: 'llama', capacity: '2' },
    ])
  })

  test('are billed once for every second with a place, and not for starts that never became ready', async () => {
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

async function killGateways(): Promise<void> {
  const random = createRandom(testSeed, DEPLOYMENTS)
  const replacing: Promise<void>[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    replacing.push(mortals.replaceOne(random))
    await delay(1_000 + random.below(3_000))
  }
  await Promise.all(replacing)
}
