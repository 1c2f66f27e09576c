import * as fc from 'fast-check'
import { wholeAccount } from '../../../storage/place.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longOr } from '../../../../tests/support/long-or.ts'
import { testSeed } from '../../../../tests/support/random-share.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Caller } from '../../keys/keys.ts'
import type { DeploymentEvent } from '../deployment.ts'
import { gpuCost } from '../bill/gpu-cost.ts'
import {
  createDeploymentStage,
  HOUR_NANO_USD,
  ORDER,
  type DeploymentStage,
} from '../testing/deployment-stage.ts'

const MINUTE_MS = 60_000
const CREDIT_NANO_USD = 10_000_000_000n
/** What the driver takes from the launch until it has bound a GPU. */
const BIND_MS = 2_000

let stage: DeploymentStage

beforeAll(async () => {
  stage = await createDeploymentStage()
})
afterAll(() => stage.close())

interface MachineRow {
  readonly launched_at: Date
  readonly released_at: Date
}

/** What the runs that had a GPU should have cost, as the driver saw them. */
async function priceByDriver(deploymentId: string): Promise<bigint> {
  const rows = await stage.database.query<MachineRow>(
    `SELECT machine.launched_at, machine.released_at FROM deployment_runs run JOIN sandbox_machines machine ON machine.instance_id = run.id
     WHERE run.deployment_id = $1 AND run.stopping_at >= machine.launched_at + $2 * interval '1 millisecond'`,
    [deploymentId, BIND_MS],
  )
  return rows.reduce((sum, { launched_at: launched, released_at: released }) => {
    const seconds = Math.ceil((released.getTime() - launched.getTime() - BIND_MS) / 1000)
    return sum + gpuCost(HOUR_NANO_USD, seconds)
  }, 0n)
}

async function readEvents({ accountId }: Caller, id: string): Promise<readonly DeploymentEvent[]> {
  const page = { limit: 1_000, afterId: null, sinceMs: null }
  return (await stage.deployments.listEvents(wholeAccount(accountId), id, page)).items
}

/** Every event begins where the one before ended. */
function findGaps(events: readonly DeploymentEvent[]): string[] {
  return events.flatMap((event, index) => {
    const before = index === 0 ? null : (events[index - 1]?.to ?? null)
    return event.from === before ? [] : [`${event.type}: from ${event.from} after ${before}`]
  })
}

async function expectClean(caller: Caller, id: string): Promise<void> {
  const cost = await priceByDriver(id)
  const { balanceNanoUsd, heldNanoUsd } = await stage.ledger.readBalance(caller.accountId)
  expect([CREDIT_NANO_USD - balanceNanoUsd, heldNanoUsd]).toEqual([cost, 0n])
  expect(await stage.countMachines()).toBe(0)
  expect(findGaps(await readEvents(caller, id))).toEqual([])
}

type Act = { readonly wish: 'running' | 'stopped' } | { readonly passMinutes: number }

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ wish: fc.constantFrom('running' as const, 'stopped' as const) }),
  fc.record({ passMinutes: fc.integer({ min: 0, max: 7 }) }),
)

describe('reconcilers that are killed at any step', () => {
  test('charge every second with a GPU exactly once, and leave no machine or hold behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 160 }), { minLength: 1, maxLength: 5 }),
        fc.array(acts, { maxLength: 5 }),
        async (deaths, plan) => {
          const caller = await stage.createCaller(10)
          const mortals = stage.startMortals(deaths)
          const { id } = await stage.deployments.create(caller, ORDER)
          for (const act of plan) {
            if ('wish' in act) await stage.deployments.setDesiredState(caller, id, act.wish)
            else await stage.pass(mortals, act.passMinutes * MINUTE_MS + 1)
          }
          await stage.pass(mortals, 3 * MINUTE_MS)
          await stage.deployments.setDesiredState(caller, id, 'deleted')
          await stage.pass(mortals, 10 * MINUTE_MS)
          expect((await readEvents(caller, id)).at(-1)?.to).toBe('deleted')
          await expectClean(caller, id)
        },
      ),
      { numRuns: longOr(25, 8) },
    )
    expect(await stage.findDifferences()).toEqual([])
  })

  test('can be killed at any step of a start and a stop', async () => {
    const stride = longOr(3, 9)
    for (let steps = testSeed % stride; steps < 150; steps += stride) {
      const caller = await stage.createCaller(10)
      const mortals = stage.startMortals([steps])
      const { id } = await stage.deployments.create(caller, ORDER)
      await stage.pass(mortals, 45_000)
      await stage.deployments.setDesiredState(caller, id, 'stopped')
      await stage.pass(mortals, 2 * MINUTE_MS)
      expect([steps, (await stage.deployments.read(wholeAccount(caller.accountId), id)).status]).toEqual([
        steps,
        'stopped',
      ])
      await expectClean(caller, id)
    }
    expect(await stage.findDifferences()).toEqual([])
  })

  test('are replaced by another process when their lease expires, and not before', async () => {
    const caller = await stage.createCaller(10)
    const { id } = await stage.deployments.create(caller, ORDER)
    const first = stage.startMortals([2])
    await first.reconcileDue()
    const second = stage.startProcess()
    await second.reconcileDue()
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('queued')
    stage.skip(30_000)
    await second.reconcileDue()
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('creating')
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(second, 5 * MINUTE_MS)
    await expectClean(caller, id)
  })

  test('end only instances without a deployment', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, MINUTE_MS)
    await stage.database.query(
      `INSERT INTO sandbox_machines (instance_id, tier_id, huggingface_id, launched_at) VALUES ($1, $2, $3, $4)`,
      [createId(), ORDER.gpuTier, ORDER.huggingfaceId, new Date(stage.nowMs())],
    )
    expect(await stage.countMachines()).toBe(2)
    await reconciler.sweep()
    await stage.pass(reconciler, MINUTE_MS)
    expect(await stage.countMachines()).toBe(1)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('running')
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
    await expectClean(caller, id)
  })

  test('change each deployment once if two processes run at the same time', async () => {
    const caller = await stage.createCaller(10)
    const [one, other] = [stage.startProcess(), stage.startProcess()]
    const both = {
      reconcileDue: async () => {
        await Promise.all([one.reconcileDue(), other.reconcileDue()])
      },
    }
    const ids: string[] = []
    for (let count = 0; count < 6; count += 1) ids.push((await stage.deployments.create(caller, ORDER)).id)
    await stage.pass(both, 5 * MINUTE_MS)
    for (const id of ids) await stage.deployments.setDesiredState(caller, id, 'stopped')
    await stage.pass(both, 2 * MINUTE_MS)
    let cost = 0n
    for (const id of ids) {
      const steps = (await readEvents(caller, id)).filter(({ type }) => type !== 'progress')
      expect(steps.map(({ to }) => to).join(' ')).toBe(
        'queued creating starting running running stopping stopped',
      )
      cost += await priceByDriver(id)
    }
    const { balanceNanoUsd } = await stage.ledger.readBalance(caller.accountId)
    expect([CREDIT_NANO_USD - balanceNanoUsd, await stage.countMachines()]).toEqual([cost, 0])
    expect(await stage.findDifferences()).toEqual([])
  })
})
