import { setTimeout as delay } from 'node:timers/promises'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Caller } from '../../keys/keys.ts'
import { explainRefusal, type Admission, type Limits } from '../../limits/limits.ts'
import {
  createInferenceRecord,
  type AskedMembers,
  type InferenceRecord,
  type OperationName,
} from '../inference-record.ts'
import type { InferenceRequest } from '../inference-request.ts'
import type { InferenceResult, WholeAnswer } from '../inference-result.ts'
import { NO_ROOM_RETRY_SECONDS, type Drains } from '../disconnect/drains.ts'
import { demandOf, OPERATION_TRAITS, usedUp, type Demand } from '../attempts/operation-traits.ts'

/** A call without a client's request: a cell of a run, a question to its judge, a lane of a turn, a task. */
interface UnattendedCall<Body extends AskedMembers> extends Omit<InferenceRequest<Body>, 'record'> {
  readonly operation: OperationName
  /** The route under which it is counted. */
  readonly route: string
  /** Begins its answer. */
  readonly start: (request: InferenceRequest<Body>) => Promise<InferenceResult>
  /** Throws if a limit is reached. Without it the call waits for the limit, because no client would retry it. */
  readonly admit?: (demand: Demand) => AdmittedCall | Promise<AdmittedCall>
  /** Called with the record of the call once it may run. */
  readonly onAdmitted: (record: InferenceRecord, admission: AdmittedCall) => void
}

type AdmittedCall = Pick<Admission, 'finish' | 'requestRate' | 'tokenRate'>

/** A finished call that does not belong to an HTTP exchange. */
export interface EndedCall {
  readonly route: string
  readonly request: Pick<InferenceRequest<unknown>, 'caller' | 'requestId' | 'text' | 'bytes' | 'record'>
  readonly durationMs: number
  /** Null if it was answered. */
  readonly error: unknown
}

/** Calls with the same limits and reports as requests, because they use the same models and cost the same. */
export interface UnattendedCalls {
  stream<Body extends AskedMembers>(call: UnattendedCall<Body>): AsyncGenerator<readonly Buffer[], void>
  /** Returns a whole answer, which is charged. */
  answer<Body extends AskedMembers>(call: UnattendedCall<Body>): Promise<WholeAnswer['payload']>
  /** Reports work that was admitted when it was ordered. Its outcome is stored in its record. */
  report<Result>(
    work: Pick<EndedCall, 'route'> & { readonly request: InferenceRequest<unknown> },
    perform: () => Promise<Result>,
  ): Promise<Result>
}

interface UnattendedOptions {
  readonly limits: Pick<Limits, 'admit'>
  readonly drains: Pick<Drains, 'hasRoom' | 'requireRoom'>
  readonly onEnded: (call: EndedCall) => void
}

export function createUnattendedCalls({ limits, drains, onEnded }: UnattendedOptions): UnattendedCalls {
  const begin = async <Body extends AskedMembers>(call: UnattendedCall<Body>) => {
    const { operation, route, start, admit, onAdmitted, ...asked } = call
    const demand = demandOf(operation, asked.body, asked.bytes)
    const admission = await (admit?.(demand) ?? waitForAdmission({ limits, drains }, asked, demand))
    const record = createInferenceRecord(operation)
    if (OPERATION_TRAITS[operation].writesText) record.asked = asked.body
    onAdmitted(record, admission)
    const request = { ...asked, record }
    return {
      start: () => start(request),
      end: (error: unknown) => {
        admission.finish(usedUp(record))
        onEnded({ route, request, durationMs: performance.now() - record.startedMs, error })
      },
    }
  }
  return {
    async *stream(call) {
      const begun = await begin(call)
      let error: unknown = null
      try {
        const result = await begun.start()
        if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
        yield* result.batches
      } catch (failure) {
        error = failure
        throw failure
      } finally {
        begun.end(error)
      }
    },
    answer: async (call) => {
      const begun = await begin(call)
      let error: unknown = null
      try {
        const result = await begun.start()
        if (result.kind !== 'complete') throw new Error('a stream came back that was not asked for')
        return result.payload
      } catch (failure) {
        error = failure
        throw failure
      } finally {
        begun.end(error)
      }
    },
    report: async ({ route, request }, perform) => {
      const { record, cancellation } = request
      let error: unknown = null
      try {
        const result = await perform()
        record.outcome = 'completed'
        return result
      } catch (failure) {
        error = failure
        record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
        throw failure
      } finally {
        onEnded({ route, request, durationMs: performance.now() - record.startedMs, error })
      }
    },
  }
}

const RATE_WAIT_MS_MAX = 15 * 60_000

async function waitForAdmission(
  { limits, drains }: Pick<UnattendedOptions, 'limits' | 'drains'>,
  { caller, cancellation }: { readonly caller: Caller; readonly cancellation: Cancellation },
  demand: Demand,
): Promise<Admission> {
  const endMs = performance.now() + RATE_WAIT_MS_MAX
  for (;;) {
    cancellation.throwIfCancelled()
    const isLate = performance.now() > endMs
    let waitSeconds = NO_ROOM_RETRY_SECONDS
    if (drains.hasRoom(caller.accountId)) {
      const outcome = await limits.admit({ caller, ...demand })
      if (outcome.isAdmitted) return outcome
      if (isLate) throw explainRefusal(outcome)
      waitSeconds = outcome.retryAfterSeconds
    }
    if (isLate) drains.requireRoom(caller.accountId)
    // Resolves early when cancelled; the next iteration checks for that.
    await delay(waitSeconds * 1_000, undefined, { signal: cancellation.signal }).catch(() => {})
  }
}
