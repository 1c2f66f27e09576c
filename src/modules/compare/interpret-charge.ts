import type { NanoUsd } from '../../kernel/money.ts'
import type { FoundCharge } from '../ledger/ledger.ts'

interface InterpretedCharge {
  /** What is to be added to the cost of the cell. */
  readonly added: NanoUsd
  /** Another answer under this id would be free, and only a broken one was paid for: it is not used again. */
  readonly isSpent: boolean
}

/**
 * What the charge that the ledger has under the id of a cell means for it. An answer that was charged and got lost is had again under the same
 * id. Even what broke off before its first word, and cost nothing, stands in the ledger.
 */
export function interpretCharge(charge: FoundCharge | null, countedNanoUsd: NanoUsd): InterpretedCharge {
  if (charge === null) return { added: 0n, isSpent: false }
  const { costNanoUsd, outcome } = charge
  const added = costNanoUsd > countedNanoUsd ? costNanoUsd - countedNanoUsd : 0n
  return { added, isSpent: outcome !== 'completed' }
}
