import type { NanoUsd } from '../../../kernel/money.ts'

/** The part of an answer's cost that its account could not pay. */
export interface UncoveredCost {
  readonly requestId: string
  readonly accountId: string
  readonly model: string | null
  readonly uncoveredNanoUsd: NanoUsd
}
