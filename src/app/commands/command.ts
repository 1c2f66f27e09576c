/** One verb of the command line. */
export interface Command {
  readonly usage: string
  /** Null hides a command that only the gateway itself calls. */
  readonly summary: string | null
  /** Returns the exit code. */
  run(words: readonly string[]): Promise<number>
}
