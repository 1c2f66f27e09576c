import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTaskStage, orderOf, type TaskStage } from '../../src/modules/tasks/testing/task-stage.ts'
import { until } from '../app/call.ts'
import { startRestartablePostgres, type RestartablePostgres } from '../ledger/restartable-postgres.ts'
import { startJobUpstream, type JobUpstream } from './job-upstream.ts'
import {
  createWorkerFleet,
  findRepeatedSubmits,
  findWrongMoney,
  untilAllEnded,
  type WorkerFleet,
} from './worker-fleet.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare } from '../support/random-share.ts'

const TASKS = longOr(120, 60)
const COST = 5_000_000n

let postgres: RestartablePostgres
let stage: TaskStage
let upstream: JobUpstream
let fleet: WorkerFleet

beforeAll(async () => {
  postgres = await startRestartablePostgres()
  stage = await createTaskStage({ connectionString: postgres.connectionString })
  upstream = await startJobUpstream({ answerMs: () => randomShare() * 40, jobMs: () => randomShare() * 800 })
  fleet = createWorkerFleet(postgres.connectionString, upstream)
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
  await stage.close()
  await postgres.close()
})

async function createMany(): Promise<void> {
  const caller = await stage.createCaller(10)
  for (let number = 0; number < TASKS; number += 1) {
    const order = orderOf(caller)
    // Retries with the same id until it succeeds, like a client with an idempotency key.
    await until(() => stage.tasks.create(order).catch(() => null))
  }
}

/** Waits until this number of jobs is submitted; after that, there are tasks in every state. */
async function untilSubmitted(jobs: number): Promise<void> {
  await until(() => upstream.jobs.length >= jobs)
}

async function expectAllRight(): Promise<void> {
  const ended = await until(() => untilAllEnded(stage).catch(() => null))
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']))
  expect(findWrongMoney(ended, COST)).toEqual([])
  expect(findRepeatedSubmits(ended, upstream)).toEqual([])
  expect(await stage.findDifferences()).toEqual([])
}

describe('tasks', () => {
  test('survive a database that is restarted and crashes while they run', async () => {
    await Promise.all([fleet.start(), fleet.start()])
    const restart = async () => {
      await untilSubmitted(TASKS / 10)
      await postgres.restart('fast')
      await untilSubmitted(TASKS / 2)
      await postgres.restart('immediate')
    }
    await Promise.all([createMany(), restart()])
    await expectAllRight()
  }, 300_000)

  test('survive all processes being killed at once and started again', async () => {
    const before = upstream.jobs.length
    await createMany()
    await untilSubmitted(before + TASKS / 10)
    await fleet.killAll()
    await postgres.restart('immediate')
    // A supervisor would restart a gateway until its database is available; these workers have no supervisor.
    await until(() => stage.tasks.count().catch(() => null))
    await Promise.all([fleet.start(), fleet.start()])
    await expectAllRight()
  }, 300_000)
})
