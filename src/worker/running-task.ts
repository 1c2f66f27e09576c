import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../kernel/app-error.ts'
import { Cancellation } from '../kernel/cancellation.ts'
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

/** Why a performer was stopped. */
export type StopReason = 'cancelled' | 'lost' | 'deadline' | 'stopping'

/** The reason of the cancellation that the performer sees. */
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

/** A performer that does not stop when it is told does not keep its place. */
const STOP_MS_MAX = 5_000

/** One claimed task from its start to its end, or until somebody else has it. */
export class RunningTask {
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

  /** The first reason counts. */
  stop(why: StopReason): void {
    if (this.#why !== null) return
    this.#why = why
    this.#cancellation.cancel(new TaskStopped(why))
  }

  /** What was reported since the last look, in percent. */
  takeProgress(): number | null {
    if (!this.#isProgressNew) return null
    this.#isProgressNew = false
    return this.#progress
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock, logger } = this.#options
    const { task, isExhausted } = this.claim
    const timer = setTimeout(
      () => this.stop('deadline'),
      Math.max(0, task.deadlineAtMs - clock.monotonicMs()),
    )
    try {
      const attempt = isExhausted ? { error: exhausted() } : await this.#perform()
      clearTimeout(timer)
      await this.#conclude(attempt)
    } catch (error) {
      // Whoever looks after the dead gives it to another worker.
      logger.error({ err: error, taskId: task.id }, 'a task could not be ended')
    } finally {
      clearTimeout(timer)
    }
  }

  async #perform(): Promise<Attempt> {
    const performed = this.#options.performer.perform(this.claim.task, this.#control()).then(
      (outcome): Attempt => ({ outcome }),
      (error: unknown): Attempt => ({ error }),
    )
    const stopped = new Promise<void>((resolve) => this.#cancellation.onCancel(() => resolve()))
    const first = await Promise.race([performed, stopped])
    if (first !== undefined) return first
    // What it is about to submit may still become known, and has to be cancelled then.
    const late = await Promise.race([performed, delay(STOP_MS_MAX, null, { ref: false })])
    return late ?? { error: this.#cancellation.reason }
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

  /** The claim fell before this process was told why. */
  async #isFoundCancelled(attempt: Attempt): Promise<boolean> {
    if (!('error' in attempt) || !(attempt.error instanceof TaskStopped)) return false
    return this.#why === null && (await this.#options.queue.readCancelled(this.claim.task.id)) !== null
  }

  /** With what became known since it was claimed. */
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
        this.stop((await queue.readCancelled(claim.task.id)) === null ? 'lost' : 'cancelled')
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
        // Known from here on, even to a task that has been cancelled meanwhile.
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
    // A cancel that this process was not told of yet is told to it within seconds; either way the work is over.
    this.#cancellation.throwIfCancelled()
    throw new TaskStopped('lost')
  }
}

/** Null when another has the task meanwhile, who writes it down. */
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

/** What an attempt means for its task. An `AppError` is for good; after anything else another try may do better. */
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

/** Longer after every try. */
function retryPauseMs(attempt: number): number {
  return RETRY_PAUSE_MS * 2 ** (attempt - 1)
}
