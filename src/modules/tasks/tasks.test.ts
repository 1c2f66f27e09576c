import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../storage/place.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { createTaskStage, orderOf, outcomeOf, type TaskStage } from './testing/task-stage.ts'
import { PLAIN_CHARGE } from '../ledger/testing/plain-charge.ts'

let stage: TaskStage
beforeAll(async () => {
  stage = await createTaskStage()
})
afterAll(() => stage.close())

async function claimAll() {
  return stage.queue.claim(1_000)
}

async function endAll(): Promise<void> {
  for (const claim of await claimAll())
    await stage.queue.finish({ claim, end: { status: 'failed', code: 'provider_error', message: 'no' } })
}

async function heldNanoUsd(accountId: string): Promise<bigint> {
  const [row] = await stage.database.query<{ held: bigint }>(
    `SELECT coalesce(sum(amount_nano_usd), 0)::bigint AS held FROM credit_holds WHERE account_id = $1 AND status = 'open'`,
    [accountId],
  )
  return row?.held ?? 0n
}

describe('a new task', () => {
  test('waits, holds its maximum cost and has a ticket', async () => {
    const caller = await stage.createCaller(1)
    const task = await stage.tasks.create(orderOf(caller, { metadata: { shot: 7 } }))
    expect(task).toMatchObject({ status: 'pending', type: 'video', model: 'video', progress: 0, attempt: 1 })
    expect(task).toMatchObject({
      startedAt: null,
      completedAt: null,
      result: null,
      error: null,
      metadata: { shot: 7 },
    })
    expect(await heldNanoUsd(caller.accountId)).toBe(10_000_000n)
    expect(await stage.tasks.read(wholeAccount(caller.accountId), task.id)).toEqual({
      ...task,
      queuePosition: 0,
    })
    expect(await stage.findDifferences()).toEqual([])
    await endAll()
  })

  test('is created once by one request', async () => {
    const caller = await stage.createCaller(1)
    const order = orderOf(caller)
    const [first, second] = await Promise.all([stage.tasks.create(order), stage.tasks.create(order)])
    const third = await stage.tasks.create(order)
    expect(new Set([first.id, second.id, third.id]).size).toBe(1)
    expect(await heldNanoUsd(caller.accountId)).toBe(10_000_000n)
    await endAll()
  })

  test('is refused without credit, while those beside it are not', async () => {
    const poor = await stage.createCaller(0.025)
    const rich = await stage.createCaller(1)
    const outcomes = await Promise.allSettled([
      stage.tasks.create(orderOf(rich)),
      ...Array.from({ length: 4 }, () => stage.tasks.create(orderOf(poor))),
      stage.tasks.create(orderOf(rich)),
    ])
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(['insufficient_balance', 'insufficient_balance'])
    expect(await heldNanoUsd(poor.accountId)).toBe(20_000_000n)
    expect(await stage.findDifferences()).toEqual([])
    await endAll()
  })

  test('gets credit that a process has borrowed and does not use', async () => {
    const caller = await stage.createCaller(0.02)
    const hold = await stage.ledger.hold(caller, {
      ...PLAIN_CHARGE,
      wantedNanoUsd: 1_000n,
      leastNanoUsd: 1_000n,
    })
    hold.release()
    const task = await stage.tasks.create(orderOf(caller))
    expect(task.status).toBe('pending')
    await endAll()
  })

  test("stays within the key's own limit and the account's budget", async () => {
    const capped = await stage.createCaller(1, { limitNanoUsd: 15_000_000n })
    await stage.tasks.create(orderOf(capped))
    await expect(stage.tasks.create(orderOf(capped))).rejects.toMatchObject({ code: 'key_limit_reached' })
    const budgeted = await stage.createCaller(1)
    await stage.ledger.setBudget(budgeted.accountId, 'day', 15_000_000n)
    await stage.tasks.create(orderOf(budgeted))
    await expect(stage.tasks.create(orderOf(budgeted))).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
    expect(await stage.findDifferences()).toEqual([])
    await endAll()
  })

  test('is refused if its text cannot be stored or its webhook cannot be called', async () => {
    const caller = await stage.createCaller(1)
    const unkeepable = orderOf(caller, { work: { prompt: 'a\u0000b' } })
    await expect(stage.tasks.create(unkeepable)).rejects.toMatchObject({ code: 'invalid_value' })
    for (const webhookUrl of [
      'http://example.com/hook',
      'ftp://example.com',
      'nonsense',
      'https://a:b@example.com/',
    ])
      await expect(stage.tasks.create(orderOf(caller, { webhookUrl }))).rejects.toMatchObject({
        param: 'webhook_url',
      })
    expect(await heldNanoUsd(caller.accountId)).toBe(0n)
  })
})

describe('a task that ends', () => {
  test('completed is charged its cost, and its files get addresses', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const [claim] = await claimAll()
    if (claim === undefined) throw new Error('nothing was claimed')
    expect(claim.task).toMatchObject({
      id,
      work: { prompt: 'a boat' },
      job: null,
      submittingTo: null,
      attempt: 1,
    })
    expect(await stage.queue.finish({ claim, end: outcomeOf() })).toBe(true)
    const task = await stage.tasks.read(wholeAccount(caller.accountId), id)
    expect(task).toMatchObject({
      status: 'completed',
      progress: 100,
      costNanoUsd: 4_000_000n,
      usage: { seconds: 5 },
    })
    const url = 'https://media.test/m1'
    const other = { url: 'https://media.test/m2', revised_prompt: 'a red boat' }
    expect(task.result).toEqual({ data: [{ url }, other], url, video_url: url })
    expect((await stage.ledger.readBalance(caller.accountId)).balanceNanoUsd).toBe(996_000_000n)
    expect(await stage.queue.finish({ claim, end: outcomeOf() })).toBe(false)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('completed may cost more than was held, as far as the account has it', async () => {
    for (const [creditUsd, costNanoUsd] of [
      [1, 30_000_000n],
      [0.02, 20_000_000n],
    ] as const) {
      const caller = await stage.createCaller(creditUsd)
      const { id } = await stage.tasks.create(orderOf(caller))
      const [claim] = await claimAll()
      if (claim === undefined) throw new Error('nothing was claimed')
      expect(await stage.queue.finish({ claim, end: outcomeOf(30_000_000n) })).toBe(true)
      expect((await stage.tasks.read(wholeAccount(caller.accountId), id)).costNanoUsd).toBe(costNanoUsd)
      const { balanceNanoUsd } = await stage.ledger.readBalance(caller.accountId)
      expect(balanceNanoUsd).toBe(BigInt(creditUsd * 1e9) - costNanoUsd)
      expect(await stage.queue.finish({ claim, end: outcomeOf(30_000_000n) })).toBe(false)
    }
    expect(await stage.findDifferences()).toEqual([])
  })

  test('failed is free and has the reason', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const [claim] = await claimAll()
    if (claim === undefined) throw new Error('nothing was claimed')
    await stage.queue.finish({
      claim,
      end: { status: 'failed', code: 'provider_error', message: 'It broke.' },
    })
    const task = await stage.tasks.read(wholeAccount(caller.accountId), id)
    expect(task).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', message: 'It broke.' },
      costNanoUsd: null,
    })
    expect((await stage.ledger.readBalance(caller.accountId)).balanceNanoUsd).toBe(1_000_000_000n)
    expect(await heldNanoUsd(caller.accountId)).toBe(0n)
  })

  test('cancelled is free, and its worker has lost it', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const [claim] = await claimAll()
    if (claim === undefined) throw new Error('nothing was claimed')
    const cancelled = await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    expect(cancelled).toMatchObject({ status: 'cancelled', refundedNanoUsd: 10_000_000n })
    expect(await stage.queue.finish({ claim, end: outcomeOf() })).toBe(false)
    expect(await stage.queue.note({ claim, submittingTo: { provider: 'maker', upstreamModel: 'v' } })).toBe(
      false,
    )
    await expect(stage.tasks.cancel(wholeAccount(caller.accountId), id)).rejects.toMatchObject({
      code: 'task_not_cancellable',
    })
    expect((await stage.ledger.readBalance(caller.accountId)).balanceNanoUsd).toBe(1_000_000_000n)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('never changes again, enforced by the database', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    for (const status of ['pending', 'processing', 'completed', 'failed'])
      await expect(
        stage.database.query('UPDATE tasks SET status = $2 WHERE id = $1', [id, status]),
      ).rejects.toThrow()
  })
})

describe('waiting for a task', () => {
  test('returns at its next change', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const wait = { seconds: 20, cancellation: new Cancellation() }
    const waiting = stage.tasks.readAfterChange(wholeAccount(caller.accountId), id, wait)
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    expect((await waiting).status).toBe('cancelled')
  })

  test('returns the unchanged task after the timeout, and at once if it has ended', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const wait = { seconds: 0.05, cancellation: new Cancellation() }
    expect((await stage.tasks.readAfterChange(wholeAccount(caller.accountId), id, wait)).status).toBe(
      'pending',
    )
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    const ended = await stage.tasks.readAfterChange(wholeAccount(caller.accountId), id, {
      ...wait,
      seconds: 30,
    })
    expect(ended.status).toBe('cancelled')
  })

  test('does not see a task of another account', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const other = await stage.createCaller(1)
    await expect(stage.tasks.read(wholeAccount(other.accountId), id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(stage.tasks.cancel(wholeAccount(other.accountId), id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await endAll()
  })
})
