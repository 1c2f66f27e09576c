import type { NanoUsd } from '../../kernel/money.ts'
import type { FoundCharge } from '../ledger/ledger.ts'

interface InterpretedCharge {
  /** The amount to add to the cost of the cell. */
  readonly added: NanoUsd
  /** Whether the id must be replaced: only an incomplete answer was charged, and another answer under this id would be free. */
  readonly isSpent: boolean
}

/**
 * Interprets the ledger's charge under the request id of a cell. An answer that was charged but lost is asked again under the same id.
 * An answer that was cut off before its first token is in the ledger too, with a cost of zero.
 */
export function interpretCharge(charge: FoundCharge | null, countedNanoUsd: NanoUsd): InterpretedCharge {
  if (charge === null) return { added: 0n, isSpent: false }
  const { costNanoUsd, outcome } = charge
  const added = costNanoUsd > countedNanoUsd ? costNanoUsd - countedNanoUsd : 0n
  return { added, isSpent: outcome !== 'completed' }
}
