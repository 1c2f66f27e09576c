import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import type { Caller } from '../../keys/keys.ts'
import { reclaimTasks } from './hand-back-tasks.ts'
import { createTaskStage, orderOf, outcomeOf, type TaskStage } from '../testing/task-stage.ts'

let stage: TaskStage
beforeEach(async () => {
  stage = await createTaskStage()
})
afterEach(() => stage.close())

async function createMany(caller: Caller, count: number, model = 'maker/video'): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => stage.tasks.create(orderOf(caller, { model }))))
}

describe('the order of tasks', () => {
  test('a thousand videos of one account do not delay one video of another', async () => {
    const [busy, quiet] = [await stage.createCaller(100), await stage.createCaller(1)]
    await createMany(busy, 1_000)
    await createMany(quiet, 1)
    const claims = await stage.queue.claim(2)
    expect(new Set(claims.map(({ task }) => task.accountId))).toEqual(
      new Set([busy.accountId, quiet.accountId]),
    )
  })

  test('accounts are served in turn, with equally many running for each', async () => {
    const callers = await Promise.all([1, 2, 3].map(() => stage.createCaller(10)))
    for (const [index, caller] of callers.entries()) await createMany(caller, [30, 10, 4][index] ?? 0)
    const countsOf = async (size: number) => {
      const claims = await stage.queue.claim(size)
      return callers.map(({ accountId }) => claims.filter(({ task }) => task.accountId === accountId).length)
    }
    expect(await countsOf(6)).toEqual([2, 2, 2])
    expect(await countsOf(9)).toEqual([4, 3, 2])
    // The third account has no waiting task left.
    expect(await countsOf(6)).toEqual([3, 3, 0])
    expect(await countsOf(100)).toEqual([21, 2, 0])
  })

  test('accounts take turns also with one task at a time', async () => {
    const callers = await Promise.all([1, 2, 3].map(() => stage.createCaller(10)))
    for (const caller of callers) await createMany(caller, 4)
    const served: string[] = []
    for (let turn = 0; turn < 12; turn += 1) {
      const [claim] = await stage.queue.claim(1)
      if (claim === undefined) throw new Error('nothing was claimed')
      served.push(claim.task.accountId)
      await stage.queue.finish({ claim, end: outcomeOf() })
    }
    for (let round = 0; round < 4; round += 1)
      expect(new Set(served.slice(round * 3, round * 3 + 3)).size).toBe(3)
  })

  test('the oldest of an account goes first, and a larger priority before everything', async () => {
    const [one, other] = [await stage.createCaller(10), await stage.createCaller(10)]
    const first = await stage.tasks.create(orderOf(one))
    const second = await stage.tasks.create(orderOf(one))
    const urgent = await stage.tasks.create(orderOf(one, { priority: 5 }))
    await stage.tasks.create(orderOf(other))
    const order: string[] = []
    for (let turn = 0; turn < 4; turn += 1) order.push((await stage.queue.claim(1))[0]?.task.id ?? '')
    expect(order[0]).toBe(urgent.id)
    expect(order.indexOf(first.id)).toBeLessThan(order.indexOf(second.id))
  })
})

describe('limits over all processes', () => {
  test('apply to the number of running tasks', async () => {
    const caller = await stage.createCaller(10)
    await createMany(caller, 10)
    const queue = stage.createQueue({ concurrentMax: 4 })
    const claims = await queue.claim(3)
    expect(claims).toHaveLength(3)
    expect(await queue.claim(3)).toHaveLength(1)
    expect(await queue.claim(3)).toHaveLength(0)
    const [claim] = claims
    if (claim !== undefined) await queue.finish({ claim, end: outcomeOf() })
    expect(await queue.claim(3)).toHaveLength(1)
  })

  test('apply to each provider, and tasks of other providers do not wait behind a full one', async () => {
    const caller = await stage.createCaller(10)
    await createMany(caller, 10, 'slow/video')
    await createMany(caller, 3, 'quick/image')
    const queue = stage.createQueue({ concurrentMaxByProvider: new Map([['slow', 2]]) })
    const providersOf = async (size: number) =>
      (await queue.claim(size)).map(({ task }) => String(task.model.split('/')[0]))
    expect(await providersOf(4)).toEqual(['slow', 'slow'])
    expect(await providersOf(10)).toEqual(['quick', 'quick', 'quick'])
    expect(await providersOf(10)).toEqual([])
  })

  test('are kept by many concurrent claims, and no task is claimed twice', async () => {
    const callers = await Promise.all([1, 2, 3, 4].map(() => stage.createCaller(10)))
    for (const caller of callers) await createMany(caller, 25)
    const queue = stage.createQueue({ concurrentMax: 60 })
    const claims = (await Promise.all(Array.from({ length: 12 }, () => queue.claim(7)))).flat()
    expect(claims).toHaveLength(60)
    expect(new Set(claims.map(({ task }) => task.id)).size).toBe(60)
  })
})

describe('a task whose worker died', () => {
  test('is returned with its state, and no try is counted, until very many workers died with it', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const job = { provider: 'maker', upstreamModel: 'm', job: { id: 'job-1' } }
    for (let deaths = 0; deaths < 20; deaths += 1) {
      const [claim] = await stage.queue.claim(1)
      expect(claim).toMatchObject({
        task: { id, attempt: 1, job: deaths === 0 ? null : job },
        isExhausted: false,
      })
      if (claim !== undefined)
        await stage.queue.note({ claim, submittingTo: { provider: 'maker', upstreamModel: 'm' } })
      if (claim !== undefined) expect(await stage.queue.note({ claim, job })).toBe(true)
      await stage.database.transaction((transaction) => reclaimTasks(transaction, stage.borrower.id))
      if (claim !== undefined) expect(await stage.queue.finish({ claim, end: outcomeOf() })).toBe(false)
      expect(await stage.tasks.read(wholeAccount(caller.accountId), id)).toMatchObject({
        status: 'pending',
        attempt: 1,
      })
    }
    const [claim] = await stage.queue.claim(1)
    expect(claim).toMatchObject({ task: { id, attempt: 1 }, isExhausted: true })
  })

  test('is returned by a stopping worker, and no try is counted', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    await stage.queue.handBack(await stage.queue.claim(1))
    expect(await stage.tasks.read(wholeAccount(caller.accountId), id)).toMatchObject({
      status: 'pending',
      attempt: 1,
    })
  })

  test('is not given to a process that was declared dead', async () => {
    const caller = await stage.createCaller(1)
    await stage.tasks.create(orderOf(caller))
    await stage.database.query('UPDATE borrowers SET closed_at = now() WHERE id = $1', [stage.borrower.id])
    expect(await stage.queue.claim(1)).toEqual([])
  })

  test('waits a moment after an error before it is tried again', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller))
    const [claim] = await stage.queue.claim(1)
    if (claim !== undefined) await stage.queue.retry(claim, { pauseMs: 60_000 })
    expect(await stage.queue.claim(1)).toEqual([])
    expect(await stage.tasks.read(wholeAccount(caller.accountId), id)).toMatchObject({
      status: 'pending',
      attempt: 2,
    })
  })
})

describe('progress', () => {
  test('follows the elapsed time until the upstream reports it, and never goes back', async () => {
    const caller = await stage.createCaller(1)
    const { id } = await stage.tasks.create(orderOf(caller, { expectedMs: 10_000 }))
    const [claim] = await stage.queue.claim(1)
    if (claim === undefined) throw new Error('nothing was claimed')
    const read = async () => (await stage.tasks.read(wholeAccount(caller.accountId), id)).progress
    await stage.database.query(`UPDATE tasks SET started_at = now() - interval '10 seconds' WHERE id = $1`, [
      id,
    ])
    const guessed = await read()
    expect(guessed).toBeGreaterThan(60)
    await stage.queue.writeProgress([{ claim, progress: 20 }])
    expect(await read()).toBeGreaterThanOrEqual(guessed)
    await stage.queue.writeProgress([{ claim, progress: 97 }])
    expect(await read()).toBe(97)
    await stage.queue.writeProgress([{ claim, progress: 50 }])
    expect(await read()).toBe(97)
    await stage.queue.finish({ claim, end: outcomeOf() })
    expect(await read()).toBe(100)
  })
})
