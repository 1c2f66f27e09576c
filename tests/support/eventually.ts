import { vi } from 'vitest'

/** A loaded machine may take many times as long as a quiet one; who waits for what never comes fails all the same. */
const PATIENCE_MS = 20_000

/** Waits until the check passes. */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: PATIENCE_MS })
}
