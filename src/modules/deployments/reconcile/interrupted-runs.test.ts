import * as fc from 'fast-check'
import { wholeAccount } from '../../../storage/place.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { longOr } from '../../../../tests/support/long-or.ts'
import type { Observation } from '../../../gpu/gpu-driver.ts'
import { gpuCost } from '../bill/gpu-cost.ts'
import {
  createDeploymentStage,
  HOUR_NANO_USD,
  ORDER,
  type DeploymentStage,
} from '../testing/deployment-stage.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const START_MS_MAX = 600_000

/** A GPU that was lost, and the one that replaced it. All times are of the stage's clock. */
interface Loss {
  readonly lostAtMs: number
  readonly boundAtMs: number
  readonly readyAtMs: number
}

let stage: DeploymentStage
let losses: Loss[] = []

beforeAll(async () => {
  stage = await createDeploymentStage({ alterObservation: observe })
})
afterAll(() => stage.close())
beforeEach(() => {
  losses = []
})

function observe(seen: Observation, nowMs: number): Observation {
  const loss = losses.findLast(({ lostAtMs }) => lostAtMs <= nowMs)
  if (loss === undefined || seen.state !== 'ready') return seen
  const { lostAtMs, boundAtMs, readyAtMs } = loss
  const known = { ...seen, requestedAtMs: lostAtMs, boundAtMs: boundAtMs <= nowMs ? boundAtMs : null }
  if (readyAtMs <= nowMs) return known
  return {
    ...known,
    state: boundAtMs <= nowMs ? 'loading' : 'pending',
    progress: 0,
    endpoint: null,
    unreadyAtMs: lostAtMs,
  }
}

async function start() {
  const caller = await stage.createCaller(100)
  const reconciler = stage.startProcess()
  const { id } = await stage.deployments.create(caller, ORDER)
  await stage.pass(reconciler, 5 * MINUTE_MS)
  const read = async () => {
    const { deployment, ...bill } = await stage.deployments.readBill(wholeAccount(caller.accountId), id)
    return { ...bill, status: deployment.status, deployment }
  }
  const listTypes = async () => {
    const page = { limit: 1_000, afterId: null, sinceMs: null }
    return (await stage.deployments.listEvents(wholeAccount(caller.accountId), id, page)).items.map(
      ({ type }) => type,
    )
  }
  const stop = async () => {
    await stage.deployments.setDesiredState(caller, id, 'stopped')
    await stage.pass(reconciler, MINUTE_MS)
    return read()
  }
  return { caller, reconciler, id, read, listTypes, stop }
}

/** Loses the GPU `inMs` from now. */
function lose({ inMs = 0, unboundMs = Infinity, loadMs = 0 }): void {
  const lostAtMs = stage.nowMs() + inMs
  losses.push({
    lostAtMs,
    boundAtMs: lostAtMs + unboundMs,
    readyAtMs: lostAtMs + unboundMs + loadMs,
  })
}

describe('a run whose engine is lost', () => {
  test('is not running, is told in an event, and costs nothing while it has no GPU', async () => {
    const { reconciler, read, listTypes, caller, id } = await start()
    const before = await read()
    expect([before.status, before.isBurning]).toEqual(['running', true])
    lose({})
    await stage.pass(reconciler, 9 * MINUTE_MS)
    const after = await read()
    expect(after).toMatchObject({
      status: 'starting',
      isBurning: false,
      accruedNanoUsd: before.accruedNanoUsd,
      deployment: { statusReason: 'engine_lost', endpoint: null },
    })
    expect((await listTypes()).filter((type) => type === 'interrupted')).toHaveLength(1)
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
  })

  test('runs again when it is ready, and is billed from the moment when its new GPU was bound', async () => {
    const { reconciler, read, listTypes, stop } = await start()
    const before = await read()
    lose({ unboundMs: 3 * MINUTE_MS, loadMs: 2 * MINUTE_MS })
    await stage.pass(reconciler, 8 * MINUTE_MS)
    const after = await read()
    expect(after).toMatchObject({ status: 'running', isBurning: true, deployment: { statusReason: null } })
    expect(after.billedSeconds - before.billedSeconds).toBe((5 * MINUTE_MS) / SECOND_MS)
    expect((await listTypes()).slice(-2)).toEqual(['interrupted', 'running'])
    const bill = await stop()
    expect(bill.accruedNanoUsd).toBe(gpuCost(HOUR_NANO_USD, bill.billedSeconds))
    expect(await stage.findDifferences()).toEqual([])
  })

  test('fails after the start limit, and is not billed for the time after the loss', async () => {
    const { caller, id, reconciler, read, listTypes } = await start()
    const before = await read()
    lose({ unboundMs: MINUTE_MS, loadMs: Infinity })
    await stage.pass(reconciler, START_MS_MAX - MINUTE_MS)
    expect((await read()).status).toBe('starting')
    await stage.pass(reconciler, 2 * MINUTE_MS)
    expect(await listTypes()).toContain('retry')
    expect((await read()).accruedNanoUsd).toBe(before.accruedNanoUsd)
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('a run whose engine is lost that is replaced between two looks is told in an event, and the gap is free', async () => {
    const { reconciler, read, listTypes, stop } = await start()
    const before = await read()
    lose({ inMs: SECOND_MS, unboundMs: 7 * SECOND_MS, loadMs: SECOND_MS })
    stage.skip(20 * SECOND_MS)
    await stage.pass(reconciler, 40 * SECOND_MS)
    expect((await listTypes()).at(-1)).toBe('replaced')
    expect((await read()).billedSeconds - before.billedSeconds).toBe(60 - 7)
    await stop()
  })

  test('any number of times is billed for exactly the seconds with a GPU, whenever it is looked at', async () => {
    const gap = fc.record({
      runMs: fc.integer({ min: 60, max: 300 }),
      unboundMs: fc.integer({ min: 0, max: 200 }),
      loadMs: fc.integer({ min: 0, max: 200 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(gap, { minLength: 1, maxLength: 4 }), async (gaps) => {
        losses = []
        const { reconciler, read, stop } = await start()
        const before = await read()
        let seconds = 0
        for (const { runMs, unboundMs, loadMs } of gaps) {
          await stage.pass(reconciler, runMs * SECOND_MS)
          lose({ unboundMs: unboundMs * SECOND_MS, loadMs: loadMs * SECOND_MS })
          // The reconciler looks at a run that is not ready every other second.
          await stage.pass(reconciler, (unboundMs + loadMs + 5) * SECOND_MS)
          seconds += runMs + loadMs + 5
        }
        const after = await read()
        expect(after.status).toBe('running')
        // A loss is noticed later than it happened: a slice that was charged by then is not taken back.
        expect(after.billedSeconds - before.billedSeconds).toBe(seconds)
        const bill = await stop()
        expect(bill.accruedNanoUsd).toBe(gpuCost(HOUR_NANO_USD, bill.billedSeconds))
        expect(await stage.findDifferences()).toEqual([])
      }),
      { numRuns: longOr(8, 3) },
    )
  })
})
