import { CommandFailure } from '../command-failure.ts'
import { pauseUnlessInterrupted } from '../interruption.ts'
import { printable } from '../output/printable.ts'
import { ApiFailure } from './api-failure.ts'

/** The total time that a command may wait for rate limits, and what reports each wait. */
export interface Patience {
  readonly waitMsMax: number
  readonly onWait: (sentence: string) => void
}

/** Returns the answer of a request, and sends it again after the time that a 429 names, as long as there is patience. */
export function createLimitWaiter(patience: Patience | null) {
  let waitedMs = 0
  return async <Result>(send: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await send()
      } catch (error) {
        const seconds = secondsToWait(error)
        if (patience === null || seconds === null) throw error
        const pauseMs = Math.max(1, seconds) * 1_000
        if (waitedMs + pauseMs > patience.waitMsMax) throw tooLong(error as ApiFailure, seconds, patience)
        waitedMs += pauseMs
        patience.onWait(`${printable((error as ApiFailure).message)} Waiting ${seconds} s.`)
        await pauseUnlessInterrupted(pauseMs)
      }
    }
  }
}

function secondsToWait(error: unknown): number | null {
  return error instanceof ApiFailure && error.status === 429 ? error.retryAfterS : null
}

function tooLong(error: ApiFailure, seconds: number, { waitMsMax }: Patience): CommandFailure {
  return new CommandFailure(
    error.exitCode,
    error.message,
    `Try again in ${seconds} s. --wait waits no longer than ${waitMsMax / 1_000} s in all.`,
  )
}
