import type { Clock } from '../../kernel/clock.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import { boundDuration, type BoundedWork } from './bound-duration.ts'
import type { AttemptRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import { occupySlot, type AcquireSlot, type Slot } from './occupy-slot.ts'
import { recordAttempt } from './record-attempt.ts'
import type { Candidate } from './select-candidates.ts'

export interface AttemptOptions {
  readonly clock: Clock
  /** The longest an answer may take, whole or streamed. */
  readonly durationMsMax: number
  readonly acquireSlot: AcquireSlot
  readonly onAttempt: (attempt: AttemptRecord) => void
  readonly onShortage: (code: string) => void
}

/** One attempt at one upstream: in its slot, within its time, and written down when it ends. */
export interface Attempt {
  readonly work: BoundedWork
  answered(): void
  /** Gives the slot back too. */
  failed(error: unknown): void
}

export function beginAttempt(
  { provider }: Candidate,
  request: InferenceRequest<unknown>,
  startedMs: number,
  options: AttemptOptions,
): Attempt | Promise<Attempt> {
  const begin = (slot: Slot | null): Attempt => {
    const attempt = recordAttempt({ ...options, request, provider: provider.id })
    const leftMs = startedMs + options.durationMsMax - options.clock.nowMs()
    const bounded = boundDuration(request.cancellation, leftMs, () => tookTooLong(provider.id))
    const work = occupySlot(bounded, slot)
    return {
      work,
      answered: () => attempt.answered(),
      failed: (error) => {
        work.release()
        attempt.failed(error)
      },
    }
  }
  const slot = options.acquireSlot(provider, request.caller.accountId, request.cancellation)
  return slot instanceof Promise ? slot.then(begin) : begin(slot)
}

function tookTooLong(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the answer took too long`, { failure: 'timeout', provider })
}
