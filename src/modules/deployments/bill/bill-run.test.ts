import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Caller } from '../../keys/keys.ts'
import { setBudget, spentInWindow } from '../../ledger/testing/test-budget.ts'
import { gpuCost } from './gpu-cost.ts'
import {
  createDeploymentStage,
  HOUR_NANO_USD,
  ORDER,
  SLICE_SECONDS,
  type DeploymentStage,
} from '../testing/deployment-stage.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const SLICE_NANO_USD = gpuCost(HOUR_NANO_USD, SLICE_SECONDS)

let stage: DeploymentStage

beforeAll(async () => {
  stage = await createDeploymentStage()
})
afterAll(() => stage.close())

const balanceOf = async ({ accountId }: Caller) => {
  const { balanceNanoUsd, heldNanoUsd } = await stage.ledger.readBalance(accountId)
  return { balanceNanoUsd, heldNanoUsd }
}
const usageOf = ({ accountId }: Caller) =>
  stage.database.query<{ operation: string; model: string; cost_nano_usd: bigint }>(
    'SELECT operation, model, cost_nano_usd FROM usage_records WHERE account_id = $1',
    [accountId],
  )

describe('a run is billed', () => {
  test('a run is billed by the second while its GPU is bound, and the charge equals the displayed cost', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, 3 * HOUR_MS + 7 * SECOND_MS)
    const running = await stage.deployments.readBill(wholeAccount(caller.accountId), id)
    expect(running.isBurning).toBe(true)
    await stage.deployments.setDesiredState(caller, id, 'stopped')
    await stage.pass(reconciler, MINUTE_MS)
    const bill = await stage.deployments.readBill(wholeAccount(caller.accountId), id)
    const [interval] = bill.intervals
    const boundMs = (interval?.toMs ?? 0) - (interval?.fromMs ?? 0)
    // Two seconds to bind, one to release.
    expect(boundMs).toBe(3 * HOUR_MS + 7 * SECOND_MS - 2 * SECOND_MS + SECOND_MS)
    const cost = gpuCost(HOUR_NANO_USD, boundMs / SECOND_MS)
    expect([bill.accruedNanoUsd, bill.billedSeconds, interval?.costNanoUsd]).toEqual([
      cost,
      boundMs / SECOND_MS,
      cost,
    ])
    expect(await balanceOf(caller)).toEqual({ balanceNanoUsd: 10_000_000_000n - cost, heldNanoUsd: 0n })
    const usage = await usageOf(caller)
    expect(usage.reduce((sum, row) => sum + row.cost_nano_usd, 0n)).toBe(cost)
    const holds = await stage.database.query(`SELECT FROM credit_holds WHERE account_id = $1`, [
      caller.accountId,
    ])
    expect(usage.length).toBeGreaterThan(10)
    expect(holds).toHaveLength(1)
    expect(new Set(usage.map(({ operation, model }) => `${operation} ${model}`))).toEqual(
      new Set([`gpu byom-${id}`]),
    )
    expect(await stage.findDifferences()).toEqual([])
  })

  test('with two slices held before a GPU is requested', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await reconciler.reconcileDue()
    expect((await balanceOf(caller)).heldNanoUsd).toBe(gpuCost(HOUR_NANO_USD, 2 * SLICE_SECONDS))
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
  })

  test.each(['capacity_exhausted', 'image_pull_failed', 'out_of_memory', 'model_gated', 'model_unsupported'])(
    'nothing for attempts that never became ready: %s',
    async (failure) => {
      const caller = await stage.createCaller(10)
      const reconciler = stage.startProcess()
      const { id } = await stage.deployments.create(caller, { ...ORDER, env: { SANDBOX_FAILURE: failure } })
      await stage.pass(reconciler, HOUR_MS)
      const deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
      expect([deployment.status, deployment.errorCode]).toEqual(['error', failure])
      expect(await balanceOf(caller)).toEqual({ balanceNanoUsd: 10_000_000_000n, heldNanoUsd: 0n })
      expect([await usageOf(caller), await stage.countMachines()]).toEqual([[], 0])
      const { items } = await stage.deployments.listEvents(wholeAccount(caller.accountId), id, {
        limit: 100,
        afterId: null,
        sinceMs: null,
      })
      const retries = items.filter(({ type }) => type === 'retry')
      expect(retries).toHaveLength(/capacity|image/.test(failure) ? 3 : 0)
      expect(await stage.findDifferences()).toEqual([])
    },
  )

  test.each(['stopped', 'deleted'] as const)(
    'for the time with a GPU if it is %s before it is ready',
    async (desired) => {
      const caller = await stage.createCaller(10)
      const reconciler = stage.startProcess()
      const { id } = await stage.deployments.create(caller, ORDER)
      await stage.pass(reconciler, 8 * SECOND_MS)
      expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('starting')
      expect((await balanceOf(caller)).balanceNanoUsd).toBe(10_000_000_000n)
      await stage.deployments.setDesiredState(caller, id, desired)
      await stage.pass(reconciler, MINUTE_MS)
      // Two seconds to bind, one to release.
      const cost = gpuCost(HOUR_NANO_USD, 8 - 2 + 1)
      expect(await balanceOf(caller)).toEqual({ balanceNanoUsd: 10_000_000_000n - cost, heldNanoUsd: 0n })
      expect((await usageOf(caller)).map((row) => row.cost_nano_usd)).toEqual([cost])
      if (desired === 'stopped') {
        const { billedSeconds, accruedNanoUsd } = await stage.deployments.readBill(
          wholeAccount(caller.accountId),
          id,
        )
        expect([billedSeconds, accruedNanoUsd]).toEqual([7, cost])
      }
      expect(await stage.findDifferences()).toEqual([])
    },
  )

  test('for a GPU that it got while no process ran, if it is stopped before it is ready', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, SECOND_MS)
    stage.skip(7 * SECOND_MS)
    await stage.deployments.setDesiredState(caller, id, 'stopped')
    await stage.pass(reconciler, MINUTE_MS)
    const cost = gpuCost(HOUR_NANO_USD, 8 - 2 + 1)
    expect((await balanceOf(caller)).balanceNanoUsd).toBe(10_000_000_000n - cost)
  })

  test('nothing if it is stopped before it has a GPU, or after its start failed', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const unbound = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, SECOND_MS)
    await stage.deployments.setDesiredState(caller, unbound.id, 'stopped')
    const failing = { ...ORDER, env: { SANDBOX_FAILURE: 'out_of_memory' } }
    const failed = await stage.deployments.create(caller, failing)
    const unseen = await stage.deployments.create(caller, failing)
    await stage.pass(reconciler, 5 * SECOND_MS)
    stage.skip(MINUTE_MS)
    await stage.deployments.setDesiredState(caller, unseen.id, 'stopped')
    await stage.pass(reconciler, MINUTE_MS)
    await stage.deployments.setDesiredState(caller, failed.id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
    expect(await balanceOf(caller)).toEqual({ balanceNanoUsd: 10_000_000_000n, heldNanoUsd: 0n })
    expect(await stage.countMachines()).toBe(0)
  })

  test('until the balance does not cover another slice: then it is stopped, and the balance never becomes negative', async () => {
    const caller = await stage.createCaller(0.5)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, HOUR_MS)
    const deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([deployment.status, deployment.statusReason]).toEqual(['stopped', 'insufficient_balance'])
    const { balanceNanoUsd, heldNanoUsd } = await balanceOf(caller)
    expect(balanceNanoUsd).toBeGreaterThanOrEqual(0n)
    expect(balanceNanoUsd).toBeLessThan(2n * SLICE_NANO_USD)
    expect([heldNanoUsd, await stage.countMachines()]).toEqual([0n, 0])
    const [run] = await stage.database.query<{ uncovered_nano_usd: bigint }>(
      'SELECT uncovered_nano_usd FROM deployment_runs WHERE deployment_id = $1',
      [id],
    )
    expect(run?.uncovered_nano_usd).toBe(0n)
    await expect(stage.deployments.setDesiredState(caller, id, 'running')).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
    expect(await stage.findDifferences()).toEqual([])
  })

  test('until a budget of its account is reached: what it says then names budgets, and the budget counts every nano-dollar', async () => {
    const caller = await stage.createCaller(10)
    const limitNanoUsd = 200_000_000n
    const order = { subject: 'account', period: 'total', limitNanoUsd } as const
    const budgetId = await setBudget(stage, caller, order)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, HOUR_MS)
    const deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([deployment.status, deployment.statusReason]).toEqual(['stopped', 'budget_exceeded'])
    const spent = await spentInWindow(stage.database, budgetId, { period: 'total', atMs: 0 })
    expect(spent).toBe(deployment.spentNanoUsd)
    expect(spent).toBeLessThanOrEqual(limitNanoUsd)
    expect(spent).toBeGreaterThan(limitNanoUsd - 2n * SLICE_NANO_USD)
    expect([(await balanceOf(caller)).heldNanoUsd, await stage.countMachines()]).toEqual([0n, 0])
    const events = await stage.database.query<{ message: string }>(
      `SELECT message FROM deployment_events WHERE deployment_id = $1 AND type = 'budget_exceeded'`,
      [id],
    )
    expect(events[0]?.message).toMatch(
      /^No more GPU time\. The total budget of 0\.2 USD of the account is reached: .* It does not start again\.$/,
    )
    await expect(stage.deployments.setDesiredState(caller, id, 'running')).rejects.toMatchObject({
      code: 'budget_exceeded',
    })
    expect(await stage.findDifferences()).toEqual([])
  })

  test('until the budget is reached, and not a nano-dollar more', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const budgetLimitNanoUsd = 200_000_000n
    const { id } = await stage.deployments.create(caller, { ...ORDER, budgetLimitNanoUsd })
    await stage.pass(reconciler, HOUR_MS)
    const deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([deployment.status, deployment.statusReason]).toEqual(['stopped', 'budget_reached'])
    expect(deployment.spentNanoUsd).toBeLessThanOrEqual(budgetLimitNanoUsd)
    expect(deployment.spentNanoUsd).toBeGreaterThan(budgetLimitNanoUsd - 2n * SLICE_NANO_USD)
    expect((await balanceOf(caller)).balanceNanoUsd).toBe(10_000_000_000n - deployment.spentNanoUsd)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('with unused credit that another process has borrowed', async () => {
    const caller = await stage.createCaller(0.1)
    const hold = await stage.ledger.hold(caller, {
      model: 'test-chat',
      labels: [],
      wantedNanoUsd: 90_000_000n,
      leastNanoUsd: 90_000_000n,
      atMs: stage.nowMs(),
      cancellation: new Cancellation(),
    })
    hold.release()
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, 30 * SECOND_MS)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('running')
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
  })

  test('for time in which no process ran, up to the budget and the balance', async () => {
    const caller = await stage.createCaller(5)
    const budgetLimitNanoUsd = 1_000_000_000n
    const { id } = await stage.deployments.create(caller, { ...ORDER, budgetLimitNanoUsd })
    const first = stage.startProcess()
    await stage.pass(first, 5 * MINUTE_MS)
    stage.skip(5 * HOUR_MS)
    await stage.pass(stage.startProcess(), MINUTE_MS)
    const deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([deployment.status, deployment.statusReason]).toEqual(['stopped', 'budget_reached'])
    expect(deployment.spentNanoUsd).toBe(budgetLimitNanoUsd)
    expect((await balanceOf(caller)).balanceNanoUsd).toBe(4_000_000_000n)
    expect(await stage.findDifferences()).toEqual([])
  })
})
