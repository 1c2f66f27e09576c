import { setTimeout as delay } from 'node:timers/promises'

const TRIES_MAX = 40
const PAUSE_MS = 50
const PAUSE_MS_MAX = 2_000

/** Retries a write through a restart of the database. Throws the last error when `isOver` says that it is no longer needed. */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  isOver: () => boolean,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES_MAX || isOver()) throw error
      await delay(Math.min(PAUSE_MS * 2 ** tries, PAUSE_MS_MAX))
      if (isOver()) throw error
    }
  }
}
