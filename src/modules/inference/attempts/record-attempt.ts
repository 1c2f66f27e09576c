import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { AbandonedWork } from '../disconnect/drains.ts'
import type { AttemptRecord } from '../inference-record.ts'
import type { InferenceRequest } from '../inference-request.ts'

interface AttemptObserver {
  readonly onAttempt: (attempt: AttemptRecord, request: InferenceRequest<unknown>) => void
  /** This process lacks a resource. `code` is the system's error code. */
  readonly onShortage: (code: string) => void
}

type Called = Required<Pick<AttemptRecord, 'provider' | 'upstreamModel' | 'spanId' | 'address'>>

/** Starts timing one attempt. The returned object records how it ended. On the hot path. */
export function recordAttempt(
  observer: AttemptObserver,
  request: InferenceRequest<unknown>,
  { provider, upstreamModel, spanId, address }: Called,
) {
  const { record, cancellation } = request
  const beganMs = performance.now()
  const note = (outcome: AttemptRecord['outcome'], status: number | null, said?: Said): void => {
    const attempt: AttemptRecord = {
      provider,
      upstreamModel,
      outcome,
      status,
      upstreamCode: said?.upstreamCode,
      upstreamMessage: said?.upstreamMessage,
      startedMs: beganMs - record.startedMs,
      durationMs: performance.now() - beganMs,
      previousProvider: record.attempts.at(-1)?.provider ?? null,
      spanId,
      address,
    }
    record.upstreamMs += attempt.durationMs
    record.attempts.push(attempt)
    observer.onAttempt(attempt, request)
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
        if (failure === 'local') observer.onShortage(upstreamCode)
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
