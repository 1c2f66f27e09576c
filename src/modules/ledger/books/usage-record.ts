import type { NanoUsd } from '../../../kernel/money.ts'

/** What a charge was for. Written with it, in the same commit. */
export interface UsageRecord {
  /** 32 hexadecimal digits of a UUIDv7: the request's id, which can be charged once. */
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: 'completed' | 'disconnected' | 'failed'
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Written to a cache of prompts. None unless told. */
  readonly cacheWriteTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  /** When the request began: the hour, day and month it counts for. */
  readonly createdAtMs: number
}

export interface Charge {
  readonly record: UsageRecord
  readonly costNanoUsd: NanoUsd
  readonly promotionalNanoUsd: NanoUsd
  /** The part of the price beyond it, which nobody could pay. Nothing unless told. */
  readonly uncoveredNanoUsd?: NanoUsd
}
