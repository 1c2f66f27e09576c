/** One command of the command line. */
export interface Command {
  readonly usage: string
  /** Descriptions of the arguments and flags, by their text in the usage. */
  readonly options: Readonly<Record<string, string>>
  /** Returns the exit code. Throws a `UsageError` for invalid arguments. */
  run(words: readonly string[]): Promise<number>
}

export const CONFIG_OPTION = {
  '--config FILE': 'The configuration file; see docs/configuration.md.',
} as const
