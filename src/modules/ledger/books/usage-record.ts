import type { NanoUsd } from '../../../kernel/money.ts'

/** The usage row of a charge, written in the same commit. */
export interface UsageRecord {
  /** The request's id as 32 hexadecimal digits (UUIDv7). Each id is charged once. */
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
  /** Tokens written to a prompt cache; zero by default. */
  readonly cacheWriteTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** Images, characters or seconds, of operations that are counted so; zero by default. */
  readonly units?: number | undefined
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  /** Start of the request; decides the hour, day and month it counts for. */
  readonly createdAtMs: number
  /** What the request log shows beside usage, packed. */
  readonly details?: string
  /** The version of the price list, and what was counted: together they give the charge again. Without `;`. */
  readonly priceVersion?: string | undefined
  readonly counted?: string | undefined
  /** What the vendor charges, by the cost list of this version. Absent: unknown. */
  readonly vendorCost?: VendorCost | undefined
  /** What sums are kept for, beside the key and the model: `tag:name=value`, `group:<id>`. Distinct, absent without any. */
  readonly labels?: readonly string[] | undefined
}

/** At most `VENDOR_COST_MAX`, so that sums of an hour have room in their columns. */
export interface VendorCost {
  readonly nanoUsd: NanoUsd
  /** Without `;`. */
  readonly version: string
}

/** Ten thousand dollars. An upstream that reports more usage has a defect, and its cost is unknown. */
export const VENDOR_COST_MAX: NanoUsd = 10_000_000_000_000n

export interface Charge {
  readonly record: UsageRecord
  readonly costNanoUsd: NanoUsd
  readonly promotionalNanoUsd: NanoUsd
  /** The part of the price that the account could not pay; zero by default. */
  readonly uncoveredNanoUsd?: NanoUsd
  /** The part of that which the account owes from now on; zero by default. */
  readonly owedNanoUsd?: NanoUsd
}
