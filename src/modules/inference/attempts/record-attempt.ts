import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { AbandonedWork } from '../disconnect/drains.ts'
import type { AttemptRecord, InferenceRecord } from '../inference-record.ts'
import type { InferenceRequest } from '../inference-request.ts'

interface RecordAttemptOptions {
  readonly request: InferenceRequest<unknown>
  readonly provider: string
  readonly upstreamModel: string
  readonly onAttempt: (attempt: AttemptRecord, request: InferenceRequest<unknown>) => void
  /** This process lacks a resource. `code` is the system's error code. */
  readonly onShortage: (code: string) => void
}

/** Starts timing one attempt. The returned object records how it ended. */
export function recordAttempt(options: RecordAttemptOptions) {
  const { request, provider, upstreamModel, onAttempt } = options
  const { record, cancellation } = request
  const beganMs = performance.now()
  const note = (outcome: AttemptRecord['outcome'], status: number | null, said: Said = {}): void => {
    const attempt = describeAttempt(record, {
      provider,
      upstreamModel,
      outcome,
      status,
      ...said,
      startedMs: beganMs - record.startedMs,
      durationMs: performance.now() - beganMs,
    })
    record.upstreamMs += attempt.durationMs
    record.attempts.push(attempt)
    onAttempt(attempt, request)
  }
  return {
    answered(): void {
      record.provider = provider
      note('answered', null)
    },
    failed(error: unknown): void {
      // The work is charged, so the provider is known.
      if (error instanceof AbandonedWork) record.provider = provider
      if (error instanceof UpstreamError) {
        const { failure, status = null, upstreamCode = '' } = error.details
        if (failure === 'local') options.onShortage(upstreamCode)
        note(failure, status, saidBy(error, request.caller.isZeroRetention === true))
      }
      if (cancellation.isCancelled && !(error instanceof UpstreamError)) note('aborted', null)
    },
  }
}

type Said = Pick<AttemptRecord, 'upstreamCode' | 'upstreamMessage'>

const CODE_LENGTH_MAX = 64
const MESSAGE_LENGTH_MAX = 300

/** What the upstream said, which is free of secrets. A message may quote the prompt, so none is kept where nothing may be. */
function saidBy({ details, message }: UpstreamError, isZeroRetention: boolean): Said {
  return {
    upstreamCode: details.upstreamCode?.slice(0, CODE_LENGTH_MAX),
    upstreamMessage: isZeroRetention
      ? undefined
      : (details.upstreamMessage ?? message).slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
  }
}

function describeAttempt(
  record: InferenceRecord,
  attempt: Omit<AttemptRecord, 'previousProvider'>,
): AttemptRecord {
  return { ...attempt, previousProvider: record.attempts.at(-1)?.provider ?? null }
}
