import { BoundedMap } from '../../../kernel/bounded-map.ts'
import type { ScheduledFault } from '../request/directives.ts'

const KEYS_MAX = 1000

export interface FaultAttempts {
  isDue(fault: Pick<ScheduledFault, 'attemptsMax' | 'attemptKey'>, requestId: string): boolean
}

/** Counts how often a fault has occurred, so that a request can fail twice and then succeed. */
export function createFaultAttempts(): FaultAttempts {
  const attempts = new BoundedMap<string, number>({ entriesMax: KEYS_MAX })
  return {
    isDue(fault, requestId) {
      if (fault.attemptsMax === null) return true
      const key = fault.attemptKey ?? requestId
      const made = attempts.get(key) ?? 0
      attempts.set(key, made + 1)
      return made < fault.attemptsMax
    },
  }
}
