import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../src/storage/place.ts'
import type { Caller } from '../../src/modules/keys/keys.ts'
import { createTaskStage, orderOf, type TaskStage } from '../../src/modules/tasks/testing/task-stage.ts'
import { until } from '../app/call.ts'
import { startJobUpstream, type JobUpstream } from './job-upstream.ts'
import {
  createWorkerFleet,
  findRepeatedSubmits,
  findWrongMoney,
  untilAllEnded,
  type EndedTask,
  type WorkerFleet,
} from './worker-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const TASKS = longOr(500, 150)
const WORKERS = longOr(3, 2)
const KILLS = longOr(8, 2)
/** A lower limit, because a task that is cancelled before its submit has no job. */
const SUBMITTED_AT_LEAST = TASKS * 0.8
/** Half of the hold of a task. */
const COST = 5_000_000n

let stage: TaskStage
let upstream: JobUpstream
let fleet: WorkerFleet

beforeAll(async () => {
  stage = await createTaskStage()
  upstream = await startJobUpstream({
    answerMs: () => randomShare() * 60,
    jobMs: () => randomShare() * 1_500,
  })
  fleet = createWorkerFleet(stage.connectionString, upstream)
  for (let count = 0; count < WORKERS; count += 1) await fleet.start()
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
  await stage.close()
})

describe('tasks of workers that are killed at random', () => {
  let ended: EndedTask[] = []

  beforeAll(async () => {
    const callers = await Promise.all([1, 2, 3, 4, 5].map(() => stage.createCaller(10)))
    const [ids] = await Promise.all([createAll(callers), killSome()])
    ended = await untilAllEnded(stage)
    expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(ids))
  }, 300_000)

  test('each end in exactly one terminal state', () => {
    const counts = Map.groupBy(ended, ({ status }) => status)
    expect(ended).toHaveLength(TASKS)
    expect([...counts.keys()].toSorted()).toEqual(['cancelled', 'completed', 'failed'])
    // One task in ten fails on purpose and about as many are cancelled. A killed worker must not make a task fail.
    expect(counts.get('completed')?.length).toBeGreaterThan(TASKS * 0.6)
    expect(ended.filter(({ errorCode }) => errorCode === 'internal_error')).toEqual([])
  })

  test('are charged once if they completed, and not at all otherwise', async () => {
    expect(findWrongMoney(ended, COST)).toEqual([])
    expect(await stage.findDifferences()).toEqual([])
  })

  test('submit no job twice', () => {
    expect(findRepeatedSubmits(ended, upstream)).toEqual([])
    const completed = ended.filter(({ status }) => status === 'completed')
    expect(completed.filter(({ requestId }) => upstream.jobsOf(requestId).length === 0)).toEqual([])
  })

  test('were interrupted, and continued with their jobs', () => {
    expect(
      ended.filter(({ interruptions, status }) => interruptions > 0 && status === 'completed').length,
    ).toBeGreaterThan(0)
  })
})

async function createAll(callers: readonly Caller[]): Promise<string[]> {
  const ids: string[] = []
  const cancelling: Promise<void>[] = []
  for (let number = 0; number < TASKS; number += 1) {
    const caller = callers[number % callers.length]
    if (caller === undefined) throw new Error('there are callers')
    const prompt = number % 10 === 0 ? 'this one fails' : 'a boat'
    const { id } = await stage.tasks.create(orderOf(caller, { work: { prompt } }))
    ids.push(id)
    if (number % 10 === 5) cancelling.push(cancelSomeTime(caller, id))
  }
  await Promise.all(cancelling)
  return ids
}

/** Waits for a number of submitted jobs instead of a time, so that it works on a slow machine too. */
async function untilSubmitted(jobs: number): Promise<void> {
  await until(() => upstream.jobs.length >= jobs)
}

async function cancelSomeTime(caller: Caller, id: string): Promise<void> {
  await untilSubmitted(randomShare() * SUBMITTED_AT_LEAST)
  await stage.tasks.cancel(wholeAccount(caller.accountId), id).catch(() => {})
}

async function killSome(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await untilSubmitted(((kill + randomShare()) / KILLS) * SUBMITTED_AT_LEAST)
    await fleet.killOne()
    await fleet.start()
  }
}
