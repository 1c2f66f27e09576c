import type { Cancellation } from '../../kernel/cancellation.ts'
import { pause } from './ask-chat.ts'

const TRIES_MAX = 40
const PAUSE_MS = 50
const PAUSE_MS_MAX = 2_000

/** Writes what must be written, through a restart of the database, for as long as nobody gave it up. */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  givenUp: Cancellation,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES_MAX || givenUp.isCancelled) throw error
      await pause(Math.min(PAUSE_MS * 2 ** tries, PAUSE_MS_MAX), givenUp)
    }
  }
}
