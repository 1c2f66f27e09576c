import { setTimeout as delay } from 'node:timers/promises'
import { wholeAccount } from '../../src/storage/place.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createTaskStage,
  orderOf,
  outcomeOf,
  type TaskStage,
} from '../../src/modules/tasks/testing/task-stage.ts'
import type { Claim } from '../../src/modules/tasks/tasks.ts'
import { findWrongMoney, untilAllEnded } from './worker-fleet.ts'
import { randomShare } from '../support/random-share.ts'

const RACES = 1_000
const RACES_AT_ONCE = 20
/** Completions are written in batches and take longer, so cancels start later; then either of them can win. */
const COMPLETE_SPREAD_MS = 10
const CANCEL_SPREAD_MS = 40
const COST = 4_000_000n

let stage: TaskStage
beforeAll(async () => {
  stage = await createTaskStage()
})
afterAll(() => stage.close())

test('a cancellation raced against completion a thousand times has one winner and the right charge', async () => {
  const callers = await Promise.all([1, 2, 3].map(() => stage.createCaller(10)))
  await Promise.all(
    Array.from({ length: RACES }, (_, number) =>
      stage.tasks.create(orderOf(callers[number % 3] ?? callerless())),
    ),
  )
  const claims = await stage.queue.claim(RACES)
  expect(claims).toHaveLength(RACES)
  const winners = { cancel: 0, completion: 0 }
  while (claims.length > 0) {
    const outcomes = await Promise.all(claims.splice(0, RACES_AT_ONCE).map(race))
    for (const { isCancelled, isCompleted } of outcomes) {
      expect(isCancelled).toBe(!isCompleted)
      winners[isCancelled ? 'cancel' : 'completion'] += 1
    }
  }
  // How often each side wins depends on the machine; both must win at least once, or there was no race.
  expect(Math.min(winners.cancel, winners.completion)).toBeGreaterThan(0)

  const ended = await untilAllEnded(stage)
  expect(ended.filter(({ status }) => status === 'completed')).toHaveLength(winners.completion)
  expect(ended.filter(({ status }) => status === 'cancelled')).toHaveLength(winners.cancel)
  expect(findWrongMoney(ended, COST)).toEqual([])
  expect(await stage.findDifferences()).toEqual([])
})

async function race(claim: Claim): Promise<{ isCancelled: boolean; isCompleted: boolean }> {
  const { accountId, id } = claim.task
  const cancel = () =>
    stage.tasks.cancel(wholeAccount(accountId), id).then(
      ({ status }) => status === 'cancelled',
      (error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'task_not_cancellable') return false
        throw error
      },
    )
  const complete = () => stage.queue.finish({ claim, end: outcomeOf(COST) })
  // Both start after a random delay, so that either can be first.
  const [isCancelled, isCompleted] = await Promise.all([
    delay(randomShare() * CANCEL_SPREAD_MS).then(cancel),
    delay(randomShare() * COMPLETE_SPREAD_MS).then(complete),
  ])
  return { isCancelled, isCompleted }
}

function callerless(): never {
  throw new Error('there are callers')
}
