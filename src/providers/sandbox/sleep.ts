import { setTimeout as delay } from 'node:timers/promises'

/** Waits, unless the signal aborts first. */
export type Sleep = (durationMs: number, signal: AbortSignal) => Promise<void>

/** Rejects with the reason of the signal instead of an `AbortError`. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(durationMs, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
