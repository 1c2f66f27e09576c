import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { createDeploymentActivity, type DeploymentActivity } from '../deployment-activity.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import type { Deployment } from '../deployment.ts'
import { gpuCost } from '../bill/gpu-cost.ts'
import {
  createDeploymentStage,
  HOUR_NANO_USD,
  ORDER,
  type DeploymentStage,
} from '../testing/deployment-stage.ts'
import { toCatalogModel } from '../models/to-catalog-model.ts'
import { createWaitForEngine } from './wait-for-engine.ts'
import { writeWake } from '../set-desired-state.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const SLEEPY = { ...ORDER, idleTimeoutMinutes: 15 }

let stage: DeploymentStage
let activity: DeploymentActivity

beforeAll(async () => {
  stage = await createDeploymentStage()
  activity = createDeploymentActivity({
    database: stage.database,
    clock: fakeClock(() => stage.nowMs()),
    logger: silentLogger,
    processId: createId(),
  })
})
afterAll(async () => {
  await activity.close()
  await stage.close()
})

describe('an idle deployment', () => {
  test('sleeps after its idle timeout, and then costs nothing for days', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, SLEEPY)
    await stage.pass(reconciler, 14 * MINUTE_MS)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('running')
    await stage.pass(reconciler, 2 * MINUTE_MS)
    const asleep = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([asleep.status, asleep.desiredState, asleep.statusReason]).toEqual([
      'sleeping',
      'sleeping',
      'idle',
    ])
    await stage.pass(reconciler, 5 * DAY_MS)
    const bill = await stage.deployments.readBill(wholeAccount(caller.accountId), id)
    // Eight seconds to load, fifteen minutes of idleness, one second to release; a look may come a little later.
    expect(bill.billedSeconds).toBeGreaterThanOrEqual(8 + 15 * 60 + 1)
    expect(bill.billedSeconds).toBeLessThan(8 + 15 * 60 + 1 + 35)
    expect(bill.accruedNanoUsd).toBe(gpuCost(HOUR_NANO_USD, bill.billedSeconds))
    expect(await stage.countMachines()).toBe(0)
  })

  test('does not sleep while a request is in flight, and counts idle time from the end of the last answer', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, SLEEPY)
    await stage.pass(reconciler, MINUTE_MS)
    const end = activity.begin(id)
    for (let minute = 0; minute < 40; minute += 1) {
      await activity.flush()
      // As often as a living process says so.
      await stage.pass(reconciler, 20_000)
    }
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('running')
    end()
    await activity.flush()
    const endedMs = stage.nowMs()
    await stage.pass(reconciler, 14 * MINUTE_MS)
    const awake = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([awake.status, awake.lastRequestAtMs]).toEqual(['running', endedMs])
    await stage.pass(reconciler, 2 * MINUTE_MS)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('sleeping')
  })

  test('is woken once by a hundred concurrent requests', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, SLEEPY)
    await stage.pass(reconciler, 20 * MINUTE_MS)
    let wakes = 0
    let known: Deployment = await stage.deployments.read(wholeAccount(caller.accountId), id)
    const listeners = new Set<() => void>()
    const waitForEngine = createWaitForEngine({
      directory: {
        find: () => ({ deployment: known, model: toCatalogModel(known) }),
        watch: (_id, listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      wake: async (deployment) => {
        if (await writeWake(stage.database, deployment.id, stage.nowMs())) wakes += 1
      },
      waitMsMax: 60_000,
    })
    const waiting = Array.from({ length: 100 }, () => waitForEngine(id, { cancellation: new Cancellation() }))
    // Another process is asked at the same time.
    const elsewhere = await Promise.all(
      Array.from({ length: 10 }, () => writeWake(stage.database, id, stage.nowMs())),
    )
    await expect.poll(() => wakes + elsewhere.filter(Boolean).length).toBe(1)
    await stage.pass(reconciler, MINUTE_MS)
    known = await stage.deployments.read(wholeAccount(caller.accountId), id)
    for (const listener of listeners) listener()
    const woken = await Promise.all(waiting)
    expect(new Set(woken.map(({ status }) => status))).toEqual(new Set(['running']))
    const page = { limit: 100, afterId: null, sinceMs: null }
    const { items } = await stage.deployments.listEvents(wholeAccount(caller.accountId), id, page)
    expect(items.filter(({ type }) => type === 'waking')).toHaveLength(1)
    const steps = items.filter(({ from, to }) => from !== to)
    expect(steps.map(({ to }) => to).join(' ')).toBe(
      'queued creating starting running sleeping starting running',
    )
    await stage.deployments.setDesiredState(caller, id, 'deleted')
    await stage.pass(reconciler, MINUTE_MS)
  })

  test('is stopped with the reason instead of woken if the account has too little credit', async () => {
    const caller = await stage.createCaller(0.54)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, SLEEPY)
    await stage.pass(reconciler, 20 * MINUTE_MS)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('sleeping')
    await writeWake(stage.database, id, stage.nowMs())
    await stage.pass(reconciler, 5 * MINUTE_MS)
    const { status, statusReason } = await stage.deployments.read(wholeAccount(caller.accountId), id)
    expect([status, statusReason]).toEqual(['stopped', 'insufficient_balance'])
    expect(await stage.findDifferences()).toEqual([])
  })

  test('waits for requests in flight when it is stopped, up to a limit', async () => {
    const caller = await stage.createCaller(10)
    const reconciler = stage.startProcess()
    const { id } = await stage.deployments.create(caller, ORDER)
    await stage.pass(reconciler, MINUTE_MS)
    const end = activity.begin(id)
    await activity.flush()
    await stage.deployments.setDesiredState(caller, id, 'stopped')
    await stage.pass(reconciler, 20_000)
    expect([
      (await stage.deployments.read(wholeAccount(caller.accountId), id)).status,
      await stage.countMachines(),
    ]).toEqual(['stopping', 1])
    await activity.flush()
    await stage.pass(reconciler, 20_000)
    expect((await stage.deployments.read(wholeAccount(caller.accountId), id)).status).toBe('stopped')
    end()
  })
})
