import type { ExitCode } from './exit-codes.ts'

/** Why a command failed: what happened, and what to do about it. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode
  /** The next step for the user, as a sentence. */
  readonly advice: string | null

  constructor(exitCode: ExitCode, message: string, advice: string | null = null) {
    super(message)
    this.exitCode = exitCode
    this.advice = advice
  }
}
