import type { JobCall, MediaCall, MediaProgress, MediaStart, UpstreamJob } from '../../media-operation.ts'

/**
 * How one vendor is asked for work, is asked how it goes, and is told to stop. A wire makes one try with one key; keys, retries,
 * several pieces of one work and the naming of failures are the operation's.
 */
export interface MediaWire<Work> {
  /** The pieces that one submission each takes, in order; one where absent. */
  split?(work: Work, upstreamModel: string): readonly Work[]
  submit(call: MediaCall<Work>, session: WireSession): Promise<MediaStart>
  check?(call: JobCall, session: WireSession): Promise<MediaProgress>
  cancel?(call: JobCall, session: WireSession): Promise<void>
  find?(call: MediaCall<Work>, session: WireSession): Promise<UpstreamJob | null>
}

export interface WireSession {
  readonly provider: string
  readonly apiKey: string
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  readonly nowMs: () => number
}
