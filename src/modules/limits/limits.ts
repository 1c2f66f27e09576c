import type { Clock } from '../../kernel/clock.ts'
import type { Caller } from '../keys/keys.ts'
import { createTokenBuckets } from './token-buckets.ts'

type Admission =
  | { readonly isAdmitted: true; readonly rate: RateState | null }
  | { readonly isAdmitted: false; readonly rate: RateState; readonly retryAfterSeconds: number }

/** What the rate headers say. */
interface RateState {
  readonly limitRequests: number
  readonly remainingRequests: number
  readonly resetSeconds: number
}

export interface Limits {
  /** Takes one request from what the key may send. */
  admit(caller: Caller): Admission
}

export function createLimits({ clock }: { clock: Clock }): Limits {
  const requests = createTokenBuckets({ clock })
  return {
    admit({ keyId, requestsPerMinute }) {
      if (requestsPerMinute === null) return { isAdmitted: true, rate: null }
      const taken = requests.take(keyId, requestsPerMinute)
      const rate = {
        limitRequests: requestsPerMinute,
        remainingRequests: taken.isTaken ? taken.remaining : 0,
        resetSeconds: taken.resetSeconds,
      }
      if (taken.isTaken) return { isAdmitted: true, rate }
      return { isAdmitted: false, rate, retryAfterSeconds: taken.retryAfterSeconds }
    },
  }
}
