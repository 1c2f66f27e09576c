import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../kernel/app-error.ts'
import { Cancellation } from '../kernel/cancellation.ts'
import { ClientDisconnected } from '../kernel/client-disconnected.ts'
import type { Clock } from '../kernel/clock.ts'
import { keepTrying } from '../kernel/keep-trying.ts'
import type { Logger } from '../kernel/logger.ts'
import {
  type Claim,
  type ClaimedTask,
  type StoredJob,
  type SubmitTarget,
  type TaskControl,
  type TaskOutcome,
  type TaskPerformer,
  type TaskQueue,
  ATTEMPTS_MAX,
  TaskPostponed,
} from '../modules/tasks/tasks.ts'
import type { LeasedItem } from '../storage/leased-work/leased-work.ts'
import { messageOf } from '../storage/storage-error.ts'

/** Why a performer was stopped. */
type StopReason = 'cancelled' | 'lost' | 'deadline' | 'stopping'

/** Nobody waits for the result any more, as if a client had left. A vendor may still bill its work to the end. */
const LEFT_BY_OWNER: ReadonlySet<StopReason> = new Set(['cancelled', 'deadline'])

/** The cancellation reason that the performer receives if another worker continues the task. */
class TaskStopped extends Error {
  override readonly name = 'TaskStopped'
  readonly why: StopReason

  constructor(why: StopReason) {
    super(`the task was stopped: ${why}`)
    this.why = why
  }
}

export interface RunningTaskOptions {
  readonly queue: TaskQueue
  readonly performer: TaskPerformer
  readonly clock: Clock
  readonly logger: Logger
}

/** How long a stopped performer may continue before its task is given up. */
const STOP_MS_MAX = 5_000

/** Runs one claimed task until it ends or this process loses it. */
export class RunningTask implements LeasedItem {
  readonly claim: Claim
  readonly #options: RunningTaskOptions
  readonly #cancellation = new Cancellation()
  #why: StopReason | null = null
  #job: StoredJob | null
  #submittingTo: SubmitTarget | null
  #progress = 0
  #isProgressNew = false

  constructor(claim: Claim, options: RunningTaskOptions) {
    this.claim = claim
    this.#options = options
    this.#job = claim.task.job
    this.#submittingTo = claim.task.submittingTo
  }

  /** Stops the task. Only the first reason counts. */
  stop(why: StopReason): void {
    if (this.#why !== null) return
    this.#why = why
    this.#cancellation.cancel(
      LEFT_BY_OWNER.has(why) ? new ClientDisconnected(`the task was stopped: ${why}`) : new TaskStopped(why),
    )
  }

  /** The claim does not stand any more: another worker has the task, or it was cancelled and the message is late. */
  async lose(): Promise<void> {
    this.stop((await this.#options.queue.readCancelled(this.claim.task.id)) === null ? 'lost' : 'cancelled')
  }

  /** Returns the progress in percent if it has changed since the last call, otherwise null. */
  takeProgress(): number | null {
    if (!this.#isProgressNew) return null
    this.#isProgressNew = false
    return this.#progress
  }

  /** Runs the task. Never rejects. */
  async perform(): Promise<void> {
    const { clock, logger } = this.#options
    const { task, isExhausted } = this.claim
    const timer = setTimeout(
      () => this.stop('deadline'),
      Math.max(0, task.deadlineAtMs - clock.monotonicMs()),
    )
    try {
      const attempt = isExhausted ? { error: exhausted() } : await this.#attempt()
      clearTimeout(timer)
      await this.#conclude(attempt)
    } catch (error) {
      // The task stays claimed until the lease of this process expires. Then another worker takes it over.
      logger.error({ err: error, taskId: task.id }, 'a task could not be ended')
    } finally {
      clearTimeout(timer)
    }
  }

  async #attempt(): Promise<Attempt> {
    const performed = this.#options.performer.perform(this.claim.task, this.#control()).then(
      (outcome): Attempt => ({ outcome }),
      (error: unknown): Attempt => ({ error }),
    )
    void performed.then(() => this.#endLeft())
    const stopped = new Promise<void>((resolve) => this.#cancellation.onCancel(() => resolve()))
    const first = await Promise.race([performed, stopped])
    if (first !== undefined) return first
    // The performer may still be submitting a job upstream, which must then be cancelled.
    const late = await Promise.race([performed, delay(STOP_MS_MAX, null, { ref: false })])
    return late ?? { error: this.#cancellation.reason }
  }

  /** The answer of a cancelled task was read to its usage and charged. If this is not stored, another process looks and finds the charge. */
  async #endLeft(): Promise<void> {
    const { queue, logger } = this.#options
    const { id } = this.claim.task
    if (this.#why !== 'cancelled') return
    await queue.endLeft(id).catch((error: unknown) => {
      logger.warn({ reason: messageOf(error), taskId: id }, 'the end of a cancelled task could not be stored')
    })
  }

  async #conclude(attempt: Attempt): Promise<void> {
    const { queue, performer, logger } = this.#options
    const { claim } = this
    if (this.#isHandedOn()) return
    if (this.#why === 'cancelled' || (await this.#isFoundCancelled(attempt)))
      return performer.cancelJob(this.#asKnown())
    const { task } = claim
    const end = this.#why === 'deadline' ? endOf(task, { error: tookTooLong() }) : endOf(task, attempt)
    const isLost = () => this.#why === 'lost' || this.#why === 'cancelled'
    if (end instanceof TaskPostponed) {
      await tryUnless(isLost, () => queue.postpone(claim, end))
      return
    }
    if (end === 'retry') {
      logger.warn(
        { err: 'error' in attempt ? attempt.error : null, taskId: task.id },
        'a task is tried again',
      )
      await tryUnless(isLost, () => queue.retry(claim, { pauseMs: retryPauseMs(task.attempt) }))
      return
    }
    const isOurs = await tryUnless(isLost, () => queue.finish({ claim, end }))
    if (this.#why === 'deadline' || (isOurs === true && end.status === 'failed' && this.#job !== null))
      await performer.cancelJob(this.#asKnown())
  }

  #isHandedOn(): boolean {
    return this.#why === 'lost' || this.#why === 'stopping'
  }

  /** Returns whether the claim was lost because of a cancellation that this process has not been told about yet. */
  async #isFoundCancelled(attempt: Attempt): Promise<boolean> {
    if (!('error' in attempt) || !(attempt.error instanceof TaskStopped)) return false
    return this.#why === null && (await this.#options.queue.readCancelled(this.claim.task.id)) !== null
  }

  /** Returns the task with the job data that was stored after the claim. */
  #asKnown(): ClaimedTask {
    return { ...this.claim.task, job: this.#job, submittingTo: this.#submittingTo }
  }

  #control(): TaskControl {
    const { queue } = this.#options
    const { claim } = this
    return {
      cancellation: this.#cancellation,
      workerId: claim.workerId,
      isHandedOn: () => this.#isHandedOn(),
      giveUp: async () => {
        const standing = await queue.findStanding([claim])
        if (standing.has(claim.task.id)) throw new Error('a task stands, but not what it was to write into')
        await this.lose()
        throw this.#cancellation.reason
      },
      noteSubmitting: async (target) => {
        this.#cancellation.throwIfCancelled()
        const submittingTo = { provider: target.provider, upstreamModel: target.upstreamModel }
        this.#requireStanding(await queue.note({ claim, submittingTo }))
        this.#submittingTo = submittingTo
      },
      noteRefused: async () => {
        this.#submittingTo = null
        await queue.note({ claim, isRefused: true })
      },
      saveJob: async (job) => {
        // Remember the job even if the task has been cancelled meanwhile, so that the job can be cancelled.
        this.#job = job
        const isStanding = await tryUnless(
          () => this.#why === 'lost',
          () => queue.note({ claim, job }),
        )
        this.#requireStanding(isStanding === true)
      },
      reportProgress: (progress) => {
        if (progress === null || !(progress > 0)) return
        const percent = Math.min(99, Math.floor(progress * 100))
        if (percent <= this.#progress) return
        this.#progress = percent
        this.#isProgressNew = true
      },
    }
  }

  #requireStanding(isStanding: boolean): void {
    if (isStanding) return this.#cancellation.throwIfCancelled()
    // The claim is lost, perhaps by a cancellation whose message has not arrived yet. The work ends in either case.
    this.#cancellation.throwIfCancelled()
    throw new TaskStopped('lost')
  }
}

/** Retries a write. Returns null if the task was lost or cancelled, because then this process must not write its result. */
async function tryUnless<Result>(
  isLost: () => boolean,
  write: () => Promise<Result>,
): Promise<Result | null> {
  if (isLost()) return null
  return keepTrying(write, isLost).catch((error: unknown) => {
    if (isLost()) return null
    throw error
  })
}

export type Attempt = { readonly outcome: TaskOutcome } | { readonly error: unknown }

function exhausted(): AppError {
  return new AppError('internal_error', 'The task was interrupted too often and was given up.')
}

function tookTooLong(): AppError {
  return new AppError('timeout', 'The task took longer than is allowed and was stopped.')
}

const RETRY_PAUSE_MS = 2_000

type TaskEnd =
  | ({ readonly status: 'completed' } & TaskOutcome)
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

/** Returns how the attempt ends the task. An `AppError` is final; other errors are retried up to `ATTEMPTS_MAX` attempts. */
function endOf(
  task: ClaimedTask,
  attempt: { readonly outcome: TaskOutcome } | { readonly error: unknown },
): TaskEnd | TaskPostponed | 'retry' {
  if ('outcome' in attempt) return { status: 'completed', ...attempt.outcome }
  const { error } = attempt
  if (error instanceof AppError) return { status: 'failed', code: error.shownCode, message: error.message }
  if (error instanceof TaskPostponed) return error
  if (task.attempt < ATTEMPTS_MAX) return 'retry'
  return { status: 'failed', code: 'internal_error', message: 'The gateway could not finish the task.' }
}

/** Returns the pause before the next attempt, which doubles each time. */
function retryPauseMs(attempt: number): number {
  return RETRY_PAUSE_MS * 2 ** (attempt - 1)
}
