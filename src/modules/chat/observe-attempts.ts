import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import type { Candidate } from './select-candidates.ts'

interface ObserveOptions {
  readonly clock: Clock
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  readonly onAttempt: (attempt: AttemptRecord) => void
}

/** Times each attempt and writes it down. */
export function observeAttempts<Answer>(
  attempt: (candidate: Candidate) => Promise<Answer>,
  { clock, record, cancellation, onAttempt }: ObserveOptions,
): (candidate: Candidate) => Promise<Answer> {
  return async (candidate) => {
    const beganMs = clock.nowMs()
    const provider = candidate.provider.id
    const finished = (outcome: AttemptRecord['outcome'], status: number | null) => {
      const durationMs = clock.nowMs() - beganMs
      const previousProvider = record.attempts.at(-1)?.provider ?? null
      const attempted: AttemptRecord = { provider, previousProvider, outcome, status, durationMs }
      record.upstreamMs += durationMs
      record.attempts.push(attempted)
      onAttempt(attempted)
    }
    try {
      const answer = await attempt(candidate)
      record.provider = provider
      finished('answered', null)
      return answer
    } catch (error) {
      if (error instanceof UpstreamError) finished(error.details.failure, error.details.status ?? null)
      else if (cancellation.isCancelled) finished('aborted', null)
      throw error
    }
  }
}
