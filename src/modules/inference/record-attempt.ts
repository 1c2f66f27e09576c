import type { Clock } from '../../kernel/clock.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'

interface RecordAttemptOptions {
  readonly clock: Clock
  readonly request: InferenceRequest<unknown>
  readonly provider: string
  readonly onAttempt: (attempt: AttemptRecord) => void
}

/** Starts the clock of one attempt; what it returns writes down how the attempt ended. */
export function recordAttempt({ clock, request, provider, onAttempt }: RecordAttemptOptions) {
  const { record, cancellation } = request
  const beganMs = clock.nowMs()
  const note = (outcome: AttemptRecord['outcome'], status: number | null): void => {
    const attempt = describeAttempt(record, {
      provider,
      outcome,
      status,
      durationMs: clock.nowMs() - beganMs,
    })
    record.upstreamMs += attempt.durationMs
    record.attempts.push(attempt)
    onAttempt(attempt)
  }
  return {
    answered(): void {
      record.provider = provider
      note('answered', null)
    },
    failed(error: unknown): void {
      if (error instanceof UpstreamError) note(error.details.failure, error.details.status ?? null)
      else if (cancellation.isCancelled) note('aborted', null)
    },
  }
}

function describeAttempt(
  record: InferenceRecord,
  attempt: Omit<AttemptRecord, 'previousProvider'>,
): AttemptRecord {
  return { ...attempt, previousProvider: record.attempts.at(-1)?.provider ?? null }
}
