import type {
  JobCall,
  MediaCall,
  MediaProgress,
  MediaStart,
  UpstreamJob,
} from '../../media/media-operation.ts'

/**
 * How one vendor starts, polls and cancels work. A wire makes one attempt with one key. The operation handles keys, retries, work
 * in several parts, and the conversion of errors.
 */
export interface MediaWire<Work> {
  /** Splits work into parts, one for each submission, in order. If absent, the work is one part. */
  split?(work: Work, upstreamModel: string): readonly Work[]
  submit(call: MediaCall<Work>, session: WireSession): Promise<MediaStart>
  check?(call: JobCall, session: WireSession): Promise<MediaProgress>
  cancel?(call: JobCall, session: WireSession): Promise<void>
  find?(call: MediaCall<Work>, session: WireSession): Promise<UpstreamJob | null>
}

export interface WireSession {
  readonly provider: string
  readonly apiKey: string
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  readonly nowMs: () => number
}
