import { NOTHING_USED, type KeyUse } from '../../../providers/connection/key-limits.ts'
import type { Provider } from '../../../providers/provider.ts'
import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { AbandonedWork, type Drains } from '../disconnect/drains.ts'
import type { AttemptRecord, InferenceRecord } from '../inference-record.ts'
import type { InferenceRequest } from '../inference-request.ts'
import { recordAttempt } from './record-attempt.ts'
import type { Candidate } from './select-candidates.ts'
import { UpstreamWork } from '../disconnect/upstream-work.ts'

interface Slot {
  /** May be called more than once. */
  release(): void
}

/** Acquires a slot at an upstream with limited concurrency. Null for all other upstreams. Throws `queue_full`. */
export type AcquireSlot = (
  provider: Provider,
  request: Pick<InferenceRequest<unknown>, 'caller' | 'cancellation' | 'giveWay'>,
) => Slot | null | Promise<Slot>

export interface AttemptOptions {
  /** Maximum duration of an answer, complete or streamed. */
  readonly durationMsMax: number
  readonly acquireSlot: AcquireSlot
  readonly drains: Drains
  readonly onAttempt: (attempt: AttemptRecord, request: InferenceRequest<unknown>) => void
  readonly onShortage: (code: string) => void
  /** Says what an upstream is told of the trace of a request. Null if none is told anything. */
  readonly forwardTrace: ForwardTrace | null
}

export type ForwardTrace = (
  provider: Provider,
  record: InferenceRecord,
) => { readonly traceparent: string; readonly spanId: string | null } | null

/** One attempt at one upstream, with its slot, its deadline and its record. */
export interface Attempt {
  readonly work: UpstreamWork
  /** The W3C header for the upstream. */
  readonly traceparent: string | undefined
  /** Called with each key with limits that the upstream gets. */
  readonly noteKey: (use: KeyUse) => void
  answered(): void
  /** Also releases the slot. */
  failed(error: unknown): void
}

export function beginAttempt(
  { provider, upstreamModel }: Candidate,
  request: InferenceRequest<unknown>,
  options: AttemptOptions,
): Attempt | Promise<Attempt> {
  const { accountId } = request.caller
  const begin = (slot: Slot | null): Attempt => {
    const trace = options.forwardTrace === null ? null : options.forwardTrace(provider, request.record)
    const attempt = recordAttempt(options, request, {
      provider: provider.id,
      upstreamModel,
      spanId: trace === null ? null : trace.spanId,
      address: provider.address ?? null,
    })
    const work = new UpstreamWork({
      parent: request.cancellation,
      durationMs:
        request.handOver === undefined
          ? request.record.startedMs + options.durationMsMax - performance.now()
          : HANDED_MS_MAX,
      expired: () => tookTooLong(provider.id),
      accountId,
      drains: options.drains,
      isBilledAfterDisconnect: provider.onDisconnect !== 'stops',
      onRelease: slot === null ? undefined : () => slot.release(),
    })
    // Few keys have limits.
    let uses: KeyUse[] | null = null
    return {
      work,
      traceparent: trace?.traceparent,
      noteKey: (use) => {
        uses ??= []
        uses.push(use)
      },
      answered: () => {
        if (uses !== null) request.record.keyUses.push(...uses)
        attempt.answered()
      },
      failed: (error) => {
        work.release()
        // Work that was left is billed as an answer is.
        if (error instanceof AbandonedWork) request.record.keyUses.push(...(uses ?? []))
        else for (const use of uses ?? []) use.end(NOTHING_USED)
        attempt.failed(error)
      },
    }
  }
  // What is handed over takes no slot: the vendor asks it when it has room.
  const slot = request.handOver === undefined ? options.acquireSlot(provider, request) : null
  return slot instanceof Promise ? slot.then(begin) : begin(slot)
}

/** More than a batch of a vendor takes. Whoever follows it gives up before. */
const HANDED_MS_MAX = 72 * 3_600_000

function tookTooLong(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the answer took too long`, { failure: 'timeout', provider })
}
