import { vi } from 'vitest'

/** A loaded machine may take many times longer than an idle one. A condition that never holds still fails. */
const PATIENCE_MS = 60_000

/** Waits until the check passes. */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: PATIENCE_MS })
}
