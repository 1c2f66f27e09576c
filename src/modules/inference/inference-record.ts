import type { NanoUsd } from '../../kernel/money.ts'
import type { KeyUse } from '../../providers/connection/key-limits.ts'
import type { UpstreamFailure } from '../../providers/failures/upstream-error.ts'
import type { Counted } from '../catalog/catalog.ts'
import type { ModelAdmission } from '../limits/limits.ts'
import type { TokenUsage } from '../../wires/token-usage.ts'

export type OperationName =
  | 'chat'
  | 'completion'
  | 'messages'
  | 'responses'
  | 'embedding'
  | 'rerank'
  | 'moderation'
  | 'image'
  | 'edit'
  | 'upscale'
  | 'bg_remove'
  | 'video'
  | 'tts'
  | 'stt'
  | 'translation'
  | 'music'

/** The members of a request that limits and traces use. */
export interface AskedMembers {
  readonly model?: string | null
  readonly stream?: boolean | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly max_output_tokens?: number | null
  readonly n?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly seed?: number | null
  /** Names of the end user. Their types are not checked on every wire. */
  readonly user?: unknown
  readonly safety_identifier?: unknown
  readonly metadata?: unknown
}

/** The record of one request, filled in while it runs. Used for response headers, logs, metrics and traces. */
export interface InferenceRecord {
  readonly operation: OperationName
  /** Monotonic clock, for durations: the system clock may be changed while the request runs. */
  readonly startedMs: number
  /** The members of the request, for operations that write text. */
  asked: AskedMembers | null
  /** The catalog's id. Null until the request has named a model that exists. */
  model: string | null
  /** The client's own id of the request. Nothing is found by it. */
  clientRequestId: string | null
  /** The client's W3C header, as it was sent. */
  traceparent: string | null
  /** The ids of the span of the request, if an upstream was told of it. */
  trace: { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean } | null
  /** Why the model stopped, by the upstream's own word. */
  finishReason: string | null
  /** The id or alias that the client sent. */
  requestedModel: string | null
  provider: string | null
  readonly attempts: AttemptRecord[]
  usage: TokenUsage | null
  /** The version of the price list. Null for a model without one. */
  priceVersion: string | null
  /** Headers of the answer, if the model is deprecated. */
  deprecation: readonly string[] | null
  /** What was counted for the charge. Null before it is known. */
  counted: Counted | null
  /** Images, characters or seconds, of operations that are counted so. */
  units?: number
  costNanoUsd: NanoUsd | null
  /** The part of the price that neither the hold nor the rest of the balance could pay. */
  uncoveredNanoUsd: NanoUsd
  /** Whether a shorter answer than the client wanted was asked for, to stay within the amount of the request. */
  isShortened?: boolean
  /** The account's balance, as far as this process knows it. */
  balanceNanoUsd: NanoUsd | null
  /** Time spent waiting for the first byte of upstreams, including failed attempts. */
  upstreamMs: number
  /** From the start of the request to the first delta of a stream. */
  firstTokenMs: number | null
  outcome: 'running' | 'completed' | 'disconnected' | 'failed'
  /** Whether it is a line of a batch. */
  isBatch?: true
  /** Why a stream failed after it began. */
  errorCode: string | null
  /** Whether its usage is recorded with a charge. */
  isBilled: boolean
  /** The admission to the limits that its project has for the model. Finished with the admission of the key. */
  ofModel: ModelAdmission | null
  /** The keys with limits that did its work. Ended with what is charged. */
  readonly keyUses: KeyUse[]
}

export interface AttemptRecord {
  readonly provider: string
  readonly upstreamModel: string
  /** The provider of the previous attempt; null for the first attempt. */
  readonly previousProvider: string | null
  /** `aborted` if the client left before there was an answer. */
  readonly outcome: 'answered' | 'aborted' | UpstreamFailure
  readonly status: number | null
  /** The upstream's own code and message of a failure, without secrets. Not shown to accounts. */
  readonly upstreamCode?: string | undefined
  readonly upstreamMessage?: string | undefined
  /** Since the request began. */
  readonly startedMs: number
  readonly durationMs: number
  /** The id of its span, if the upstream was told. */
  readonly spanId?: string | null
  /** The host of the upstream. Null if it is not known. */
  readonly address?: string | null
}

export function createInferenceRecord(operation: OperationName): InferenceRecord {
  return {
    operation,
    startedMs: performance.now(),
    asked: null,
    model: null,
    clientRequestId: null,
    traceparent: null,
    trace: null,
    finishReason: null,
    requestedModel: null,
    provider: null,
    attempts: [],
    usage: null,
    priceVersion: null,
    deprecation: null,
    counted: null,
    costNanoUsd: null,
    uncoveredNanoUsd: 0n,
    balanceNanoUsd: null,
    upstreamMs: 0,
    firstTokenMs: null,
    outcome: 'running',
    errorCode: null,
    isBilled: false,
    ofModel: null,
    keyUses: [],
  }
}
