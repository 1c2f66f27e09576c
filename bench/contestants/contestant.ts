/** A gateway or proxy that the benchmark can start. To add one: a file here and a line in `contestants.ts`. */
export interface Contestant {
  readonly id: string
  /** Returns how to start it, or why it is not available on this machine. */
  prepare(setting: ContestantSetting): Promise<ContestantLaunch | Unavailable>
}

export interface ContestantSetting {
  readonly port: number
  readonly upstreamPort: number
  /** Its own empty directory, removed at the end. */
  readonly directory: string
  /** False if only software that is already installed may be used. */
  readonly mayInstall: boolean
  /** Flags for Node, for the contestants that run on it. */
  readonly nodeFlags: readonly string[]
  readonly note: (text: string) => void
}

export interface ContestantLaunch {
  readonly version: string
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  readonly hasChannel?: boolean
  /** Headers that a client of this gateway adds to its requests. */
  readonly requestHeaders: Readonly<Record<string, string>>
  /** Answers 200 to a GET once the contestant is ready. A chat request is tried after it in any case. */
  readonly readyPath?: string
  readonly startTimeoutMs: number
  readonly ledger?: BenchedLedger
}

/** The ledger of a gateway, which is checked after the load. */
export interface BenchedLedger {
  readonly dataDirectory: string
  /** The checkout that wrote it, which knows the tables that it made. */
  readonly checkout: string
  /** False if it answers without charging. */
  readonly isCharging: boolean
}

interface Unavailable {
  readonly unavailable: string
}
