import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { MediaOutput, MediaProgress, UpstreamJob } from '../../providers/media/media-operation.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import { requireFiles } from './submit-work.ts'
import type { JobOperation } from './work-operation.ts'

export interface FollowedJob {
  readonly provider: string
  readonly upstreamModel: string
  readonly job: UpstreamJob
  readonly operation: JobOperation
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
}

interface FollowOptions {
  readonly clock: Clock
  readonly pause: Pause
  readonly cancellation: Cancellation
  /** On the monotonic clock. */
  readonly deadlineAtMs: number
  /** The pause before the first poll. */
  readonly pollAfterMs?: number | undefined
  reportProgress(progress: number | null): void
}

/** Rejects with the reason of the cancellation. */
export type Pause = (durationMs: number, cancellation: Cancellation) => Promise<void>

const FIRST_PAUSE_MS = 1_000
const PAUSE_MS_MAX = 10_000
const ASKED_PAUSE_MS_MAX = 30_000
const PAUSE_GROWTH = 1.3
/** A job is considered lost if its upstream cannot be reached for this time. */
const SILENCE_MS_MAX = 180_000

/** Polls the job until it is done. Throws `UpstreamError` if it failed and `AppError` if it is lost. */
export async function followJob(followed: FollowedJob, options: FollowOptions): Promise<MediaOutput> {
  const { clock, pause, cancellation, deadlineAtMs } = options
  let backoffMs = FIRST_PAUSE_MS
  let pauseMs = options.pollAfterMs ?? 0
  let silentSinceMs: number | null = null
  while (clock.monotonicMs() < deadlineAtMs) {
    await pause(Math.min(pauseMs, ASKED_PAUSE_MS_MAX), cancellation)
    let progress: MediaProgress
    try {
      progress = await checkJob(followed, cancellation)
      silentSinceMs = null
    } catch (error) {
      silentSinceMs ??= clock.monotonicMs()
      if (!isPassing(error) || clock.monotonicMs() - silentSinceMs > SILENCE_MS_MAX) throw error
      backoffMs = Math.min(backoffMs * PAUSE_GROWTH, PAUSE_MS_MAX)
      pauseMs = Math.max(backoffMs, (error.details.retryAfterSeconds ?? 0) * 1000)
      continue
    }
    if (progress.kind === 'done') {
      requireFiles(followed.provider, progress.output)
      return progress.output
    }
    options.reportProgress(progress.progress)
    pauseMs = progress.pollAfterMs ?? backoffMs
    backoffMs = Math.min(backoffMs * PAUSE_GROWTH, PAUSE_MS_MAX)
  }
  const { provider } = followed
  throw new UpstreamError(`${provider}: the job took too long`, { failure: 'timeout', provider })
}

/** Polls once. */
async function checkJob(followed: FollowedJob, cancellation: Cancellation): Promise<MediaProgress> {
  const { operation, provider, job, upstreamModel, requestId, timeouts } = followed
  if (!operation.check) throw new Error(`${provider} makes jobs and cannot be asked about them`)
  try {
    return await operation.check({ job, upstreamModel, requestId, timeouts, cancellation })
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.details.status !== 404) throw error
    // Do not submit it again: it may have been billed.
    throw new AppError('provider_error', `The provider '${provider}' lost the job.`, { cause: error })
  }
}

/** Whether the request only failed temporarily. A failure of the job itself is final. */
function isPassing(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.details.hasJobEnded !== true && error.isRetryable
}
