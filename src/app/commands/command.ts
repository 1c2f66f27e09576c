/** One verb of the command line. */
export interface Command {
  readonly usage: string
  /** Null hides a command that only the gateway itself calls. */
  readonly summary: string | null
  /** What each argument and flag means, as they are written in the usage. */
  readonly options: Readonly<Record<string, string>>
  /** Returns the exit code. Throws a `UsageError` for words it does not take. */
  run(words: readonly string[]): Promise<number>
}

export const CONFIG_OPTION = {
  '--config FILE': 'The configuration file; see docs/configuration.md.',
} as const
