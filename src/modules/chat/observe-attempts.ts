import type { Clock } from '../../kernel/clock.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import type { Candidate } from './select-candidates.ts'

interface ObserveOptions {
  readonly clock: Clock
  readonly record: InferenceRecord
  readonly onAttempt: (attempt: AttemptRecord) => void
}

/** Times each attempt and writes it down. */
export function observeAttempts<Answer>(
  attempt: (candidate: Candidate) => Promise<Answer>,
  { clock, record, onAttempt }: ObserveOptions,
): (candidate: Candidate) => Promise<Answer> {
  return async (candidate) => {
    const beganMs = clock.nowMs()
    const provider = candidate.provider.id
    const finished = (outcome: AttemptRecord['outcome'], status: number | null) => {
      const durationMs = clock.nowMs() - beganMs
      record.upstreamMs += durationMs
      record.attempts.push({ provider, outcome, status, durationMs })
      onAttempt({ provider, outcome, status, durationMs })
    }
    try {
      const answer = await attempt(candidate)
      record.provider = provider
      finished('answered', null)
      return answer
    } catch (error) {
      if (error instanceof UpstreamError) finished(error.details.failure, error.details.status ?? null)
      throw error
    }
  }
}
