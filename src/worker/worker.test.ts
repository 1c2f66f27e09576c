import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { wholeAccount } from '../storage/place.ts'
import { AppError } from '../kernel/app-error.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/logger.ts'
import type { Caller } from '../modules/keys/keys.ts'
import type { ClaimedTask, TaskControl, TaskOutcome } from '../modules/tasks/tasks.ts'
import { createTaskStage, orderOf, type TaskStage } from '../modules/tasks/testing/task-stage.ts'
import { createWorker, type Worker } from './worker.ts'

const OUTCOME: TaskOutcome = { result: { data: [] }, usage: null, costNanoUsd: 1n, provider: 'maker' }
const JOB = { provider: 'maker', upstreamModel: 'm', job: { id: 'job-1' } }

const PATIENCE = { timeout: 15_000 }

let stage: TaskStage
let caller: Caller
let worker: Worker | null = null
let perform: (task: ClaimedTask, control: TaskControl) => Promise<TaskOutcome>
let cancelledJobs: ClaimedTask[]

beforeEach(async () => {
  stage = await createTaskStage()
  caller = await stage.createCaller(1)
  cancelledJobs = []
})
afterEach(async () => {
  await worker?.close({ graceMs: 0 })
  worker = null
  await stage.close()
})

async function startWorker(): Promise<Worker> {
  worker = await createWorker({
    connectionString: stage.connectionString,
    queue: stage.queue,
    performer: {
      perform: (task, control) => perform(task, control),
      cancelJob: async (task) => void cancelledJobs.push(task),
    },
    borrower: stage.borrower,
    concurrency: 10,
    deliverWebhooks: async () => {},
    sweep: async () => {},
    clock: systemClock,
    logger: silentLogger,
  })
  return worker
}

async function untilStatus(id: string, status: string) {
  await expect
    .poll(() => stage.tasks.read(wholeAccount(caller.accountId), id).then((task) => task.status), {
      timeout: 15_000,
      interval: 10,
    })
    .toBe(status)
  return stage.tasks.read(wholeAccount(caller.accountId), id)
}

/** Runs until `cancellation` is triggered. */
function goOnUntilStopped({ cancellation }: TaskControl): Promise<never> {
  return new Promise((_resolve, reject) => cancellation.onCancel(reject))
}

describe('a worker', () => {
  test('starts a task at once and completes it', async () => {
    await startWorker()
    perform = async () => OUTCOME
    const { id } = await stage.tasks.create(orderOf(caller))
    expect(await untilStatus(id, 'completed')).toMatchObject({ costNanoUsd: 1n, progress: 100 })
    expect(worker?.isRunning()).toBe(true)
  })

  test('fails a task permanently with the message of its error, and informs the upstream', async () => {
    await startWorker()
    perform = async (_task, control) => {
      await control.noteSubmitting(JOB)
      await control.saveJob(JOB)
      throw new AppError('provider_error', 'The upstream said no.')
    }
    const { id } = await stage.tasks.create(orderOf(caller))
    const { error } = await untilStatus(id, 'failed')
    expect(error).toEqual({ code: 'provider_error', message: 'The upstream said no.' })
    await expect.poll(() => cancelledJobs.map(({ job }) => job)).toEqual([JOB])
  })

  test('retries after another error, with the known state', async () => {
    await startWorker()
    const seen: ClaimedTask[] = []
    perform = async (task, control) => {
      seen.push(task)
      if (task.job !== null) return OUTCOME
      await control.noteSubmitting(JOB)
      await control.saveJob(JOB)
      throw new Error('something broke')
    }
    const { id } = await stage.tasks.create(orderOf(caller))
    await untilStatus(id, 'pending')
    await stage.database.query('UPDATE tasks SET not_before = NULL WHERE id = $1', [id])
    expect(await untilStatus(id, 'completed')).toMatchObject({ attempt: 2 })
    expect(seen.map(({ job, submittingTo }) => [job, submittingTo])).toEqual([
      [null, null],
      [JOB, { provider: 'maker', upstreamModel: 'm' }],
    ])
  })

  test('stops a cancelled task at once and informs the upstream', async () => {
    await startWorker()
    const stopped = Promise.withResolvers<unknown>()
    perform = async (_task, control) => {
      await control.saveJob(JOB)
      return goOnUntilStopped(control).catch((reason: unknown) => {
        stopped.resolve(reason)
        throw reason
      })
    }
    const { id } = await stage.tasks.create(orderOf(caller))
    await untilStatus(id, 'processing')
    await expect
      .poll(async () => (await stage.database.query('SELECT job FROM tasks WHERE id = $1', [id]))[0]?.['job'])
      .toEqual(JOB)
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    expect(await stopped.promise).toMatchObject({ message: 'the task was stopped: cancelled' })
    await expect.poll(() => cancelledJobs.some(({ job }) => job?.job.id === 'job-1')).toBe(true)
  })

  test('cancels a job that became known only after its task was cancelled', async () => {
    await startWorker()
    const submitted = Promise.withResolvers<void>()
    perform = async (_task, control) => {
      await control.noteSubmitting(JOB)
      await submitted.promise
      await control.saveJob(JOB)
      return OUTCOME
    }
    const { id } = await stage.tasks.create(orderOf(caller))
    await expect
      .poll(
        async () => (await stage.database.query('SELECT submitting_to AS target FROM tasks'))[0]?.['target'],
      )
      .not.toBeNull()
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    submitted.resolve()
    await expect.poll(() => cancelledJobs.some(({ job }) => job?.job.id === 'job-1')).toBe(true)
    expect((await stage.tasks.read(wholeAccount(caller.accountId), id)).status).toBe('cancelled')
    expect(await stage.findDifferences()).toEqual([])
  })

  test('cancels the job of a task that was cancelled while no worker ran', async () => {
    const { id } = await stage.tasks.create(orderOf(caller))
    const claims = await stage.queue.claim(1)
    for (const claim of claims) await stage.queue.note({ claim, job: JOB })
    await stage.queue.handBack(claims)
    await stage.tasks.cancel(wholeAccount(caller.accountId), id)
    expect(cancelledJobs).toEqual([])
    await startWorker()
    await expect.poll(() => cancelledJobs, PATIENCE).toMatchObject([{ id, job: JOB }])
  })

  test('finds a task whose ticket was lost', async () => {
    perform = async () => OUTCOME
    const { id } = await stage.tasks.create(orderOf(caller))
    await stage.database.query(`SELECT parkway_jobs.complete_jobs(ARRAY(SELECT id FROM parkway_jobs.jobs))`)
    await startWorker()
    await untilStatus(id, 'completed')
  })

  test('ends tasks that take too long or have waited too long', async () => {
    perform = (_task, control) => goOnUntilStopped(control)
    const slow = await stage.tasks.create(orderOf(caller))
    const late = await stage.tasks.create(orderOf(caller))
    await stage.database.query('UPDATE tasks SET deadline_ms = 100 WHERE id = $1', [slow.id])
    await stage.database.query(`UPDATE tasks SET deadline_at = now() WHERE id = $1`, [late.id])
    await startWorker()
    for (const { id } of [slow, late]) expect((await untilStatus(id, 'failed')).error?.code).toBe('timeout')
    expect(await stage.findDifferences()).toEqual([])
  })

  test('stores the progress that the upstream reports', async () => {
    await startWorker()
    perform = (_task, control) => {
      control.reportProgress(0.4)
      control.reportProgress(0.2)
      control.reportProgress(null)
      return goOnUntilStopped(control)
    }
    const { id } = await stage.tasks.create(orderOf(caller))
    await expect
      .poll(async () => (await stage.tasks.read(wholeAccount(caller.accountId), id)).progress)
      .toBe(40)
  })

  test('a worker that stops returns its unfinished tasks', async () => {
    await startWorker()
    perform = (_task, control) => goOnUntilStopped(control)
    const { id } = await stage.tasks.create(orderOf(caller))
    await untilStatus(id, 'processing')
    await worker?.close({ graceMs: 10 })
    worker = null
    expect(await stage.tasks.read(wholeAccount(caller.accountId), id)).toMatchObject({
      status: 'pending',
      attempt: 1,
    })
  })
})
