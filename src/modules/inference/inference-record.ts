import type { NanoUsd } from '../../kernel/money.ts'
import type { UpstreamFailure } from '../../providers/upstream-error.ts'
import type { TokenUsage } from './token-usage.ts'

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

/** The members of a request that limits and traces look at. */
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
}

/** What happened to one request, filled in as it happens, for the answer's headers, the log, metrics and traces. */
export interface InferenceRecord {
  readonly operation: OperationName
  /** By the monotonic clock, for durations: the system's clock may be set while the request runs. */
  readonly startedMs: number
  /** What was asked, where it is text that is asked for. */
  asked: AskedMembers | null
  /** The catalog's id; null until the request named a model that exists. */
  model: string | null
  provider: string | null
  readonly attempts: AttemptRecord[]
  usage: TokenUsage | null
  costNanoUsd: NanoUsd | null
  /** The part of the price that neither what was held nor what else the account had could pay. */
  uncoveredNanoUsd: NanoUsd
  /** Of the account, as far as this process knows. */
  balanceNanoUsd: NanoUsd | null
  /** Spent waiting for upstreams before the first byte, failed attempts included. */
  upstreamMs: number
  /** From the start of the request to the first delta of a stream. */
  firstTokenMs: number | null
  outcome: 'running' | 'completed' | 'disconnected' | 'failed'
}

export interface AttemptRecord {
  readonly provider: string
  /** Who was asked before, because this is not the first attempt. */
  readonly previousProvider: string | null
  /** `aborted` when the client was gone before there was an answer. */
  readonly outcome: 'answered' | 'aborted' | UpstreamFailure
  readonly status: number | null
  readonly durationMs: number
}

export function createInferenceRecord(operation: OperationName): InferenceRecord {
  return {
    operation,
    startedMs: performance.now(),
    asked: null,
    model: null,
    provider: null,
    attempts: [],
    usage: null,
    costNanoUsd: null,
    uncoveredNanoUsd: 0n,
    balanceNanoUsd: null,
    upstreamMs: 0,
    firstTokenMs: null,
    outcome: 'running',
  }
}
