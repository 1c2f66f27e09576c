import type { NanoUsd } from '../../../kernel/money.ts'

/** What an answer cost beyond all that its account had. */
export interface UncoveredCost {
  readonly requestId: string
  readonly accountId: string
  readonly model: string | null
  readonly uncoveredNanoUsd: NanoUsd
}
