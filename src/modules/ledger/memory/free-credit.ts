import type { NanoUsd } from '../../../kernel/money.ts'
import type { AmpleHoldRequest, Hold, HoldRequest, Payer } from './memory-hold.ts'

/** Used when billing is off: every hold succeeds and nothing is written. */
export const freeCredit = {
  hold: (_payer: Payer, request: HoldRequest): Hold => holdFreely(request),
  holdAtOnce: (_payer: Payer, request: AmpleHoldRequest): Hold => holdFreely(request),
  knownBalanceNanoUsd: (): NanoUsd => PLENTY_NANO_USD,
}

function holdFreely({ wantedNanoUsd }: AmpleHoldRequest): Hold {
  let amountNanoUsd = wantedNanoUsd
  return {
    get amountNanoUsd() {
      return amountNanoUsd
    },
    balanceNanoUsd: PLENTY_NANO_USD,
    cover: (neededNanoUsd) => {
      amountNanoUsd = neededNanoUsd
      return null
    },
    isShort: false,
    settle: () => CHARGED_NOTHING,
    release: () => {},
  }
}

const CHARGED_NOTHING = Promise.resolve()
// Larger than every hold, and exact as a JSON number in dollars.
const PLENTY_NANO_USD = 1_000_000_000_000_000n
