import type { NanoUsd } from '../../kernel/money.ts'
import type { Hold, HoldRequest, Payer } from './hold.ts'

/** For a gateway that charges nobody: every request is covered and nothing is written. */
export const freeCredit = {
  hold: (_payer: Payer, { wantedNanoUsd }: HoldRequest): Hold => ({
    amountNanoUsd: wantedNanoUsd,
    settle: () => CHARGED_NOTHING,
    release: () => {},
  }),
  knownBalanceNanoUsd: (): NanoUsd => PLENTY_NANO_USD,
}

const CHARGED_NOTHING = Promise.resolve()
// Above every hold, and exact as dollars in JSON.
const PLENTY_NANO_USD = 1_000_000_000_000_000n
