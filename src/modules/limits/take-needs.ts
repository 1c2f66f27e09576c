import type { RateOutcome } from '../../storage/borrowing/borrowed-rates.ts'
import type { LimitLayer, RateStates, Refusal } from './admission.ts'
import type { RateGate } from './gates.ts'

/** A limit that a request needs: the result of taking it, and how to return it if another one is missing. */
export interface Need {
  readonly layer: LimitLayer
  readonly limit: number
  /** What is counted, in words, for a layer that counts several things. */
  readonly unit?: string
  readonly isTaken: RateOutcome | Promise<RateOutcome>
  readonly giveBack: () => void
}

export const TAKEN: RateOutcome = { isTaken: true }

export function needRate(
  layer: LimitLayer,
  gate: RateGate | null,
  units: number,
  nowMs: number,
  isTaken: boolean,
): Need | null {
  if (gate === null) return null
  const { rate, perMinute } = gate
  return {
    layer,
    limit: perMinute,
    isTaken: isTaken ? TAKEN : rate.take(units, perMinute, nowMs),
    giveBack: () => rate.giveBack(units, performance.now()),
  }
}

/** Takes all needs. If one is missing, returns the others and the refusal. */
export async function takeNeeds(states: RateStates, needs: readonly Need[]): Promise<Refusal | null> {
  const outcomes = await Promise.allSettled(needs.map(async ({ isTaken }) => isTaken))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  const missing = needs.flatMap((need, index) => {
    const outcome = outcomes[index]
    if (outcome?.status !== 'fulfilled' || outcome.value.isTaken) return []
    return [{ need, retryAfterMs: outcome.value.retryAfterMs }]
  })
  if (failed === undefined && missing.length === 0) return null
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled' && outcome.value.isTaken) needs[index]?.giveBack()
  })
  if (failed !== undefined) throw failed.reason
  return refuse(states, missing)
}

/** Uses the longest wait, so that a retry passes all limits. */
function refuse(states: RateStates, missing: readonly { need: Need; retryAfterMs: number }[]): Refusal {
  const [longest] = missing.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)
  if (longest === undefined) throw new Error('a refusal without a reason')
  return {
    isAdmitted: false,
    layer: longest.need.layer,
    limit: longest.need.limit,
    ...(longest.need.unit !== undefined && { unit: longest.need.unit }),
    retryAfterSeconds: Math.ceil(longest.retryAfterMs / 1000),
    requestRate: () => states.requestRate(),
    tokenRate: () => states.tokenRate(),
  }
}
