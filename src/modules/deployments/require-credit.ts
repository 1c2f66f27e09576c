import { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { gpuCost } from './gpu-cost.ts'

interface CreditOptions {
  /** Null for a gateway that charges nobody. */
  readonly ledger: Pick<Ledger, 'hold'> | null
  readonly clock: Clock
  readonly sliceSeconds: number
}

/**
 * Refuses a start that would be stopped at once. The caps of whoever starts it have to leave room too, so that a key that has reached its
 * limit cannot spend on through a deployment of another key.
 */
export async function requireCredit(
  { ledger, clock, sliceSeconds }: CreditOptions,
  caller: Caller,
  pricePerHourNanoUsd: NanoUsd,
): Promise<void> {
  const neededNanoUsd = gpuCost(pricePerHourNanoUsd, sliceSeconds)
  if (ledger === null || neededNanoUsd === 0n) return
  const hold = await ledger.hold(caller, {
    wantedNanoUsd: neededNanoUsd,
    leastNanoUsd: neededNanoUsd,
    atMs: clock.nowMs(),
    cancellation: new Cancellation(),
  })
  hold.release()
}
