import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { labelsOf, type Caller } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { gpuCost } from './gpu-cost.ts'

interface CreditOptions {
  /** Null if billing is off. */
  readonly ledger: Pick<Ledger, 'hold'> | null
  readonly clock: Clock
  readonly sliceSeconds: number
}

interface PricedModel {
  /** Empty for a deployment that has no id yet. */
  readonly model: string
  readonly pricePerHourNanoUsd: NanoUsd
}

/**
 * Throws if the credit does not cover the first slice, because the deployment would be stopped at once. Checks the caps of the
 * caller's key too, so that a key at its limit cannot keep spending through another key's deployment.
 */
export async function requireCredit(
  { ledger, clock, sliceSeconds }: CreditOptions,
  caller: Caller,
  { model, pricePerHourNanoUsd }: PricedModel,
): Promise<void> {
  const neededNanoUsd = gpuCost(pricePerHourNanoUsd, sliceSeconds)
  if (ledger === null || neededNanoUsd === 0n) return
  const hold = await ledger.hold(caller, {
    wantedNanoUsd: neededNanoUsd,
    leastNanoUsd: neededNanoUsd,
    model,
    labels: labelsOf(caller),
    atMs: clock.nowMs(),
    cancellation: new Cancellation(),
  })
  hold.release()
}
