import type { Cancellation } from '../../kernel/cancellation.ts'
import type { KeyUse } from '../connection/key-limits.ts'
import type { UpstreamTimeouts } from '../connection/upstream-timeouts.ts'

/** A client's file in memory: an image or short audio. */
export interface InputFile {
  readonly bytes: Uint8Array
  readonly contentType: string
}

/**
 * Work that may take minutes. `start` returns either the output or the upstream job that produces it. The caller stores that job
 * first, so that a process that takes over calls `check` instead of submitting and paying again. All methods throw only
 * `UpstreamError`. A cancelled call rejects with the reason of its cancellation.
 */
export interface MediaOperation<Work> {
  start(call: MediaCall<Work>): Promise<MediaStart>
  /** Polls the job once. Throws if the job failed, and throws status 404 if the upstream no longer knows it. */
  check?(call: JobCall): Promise<MediaProgress>
  /** Present if the upstream has a call for it. It is not an error if the job has already ended. */
  cancel?(call: JobCall): Promise<void>
  /** Finds the job of a `start` whose response was lost, if the upstream supports a lookup. Null if there is no job. */
  find?(call: MediaCall<Work>): Promise<UpstreamJob | null>
}

export interface MediaCall<Work> {
  readonly work: Work
  readonly upstreamModel: string
  /** The same for every attempt of one piece of work. Used as the idempotency key if the upstream accepts one. */
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
}

export interface JobCall {
  readonly job: UpstreamJob
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

/** Everything that a process needs to find the job again, as plain JSON. */
export interface UpstreamJob {
  readonly id: string
  readonly data?: Readonly<Record<string, unknown>>
}

export type MediaStart =
  | { readonly kind: 'done'; readonly output: MediaOutput }
  | { readonly kind: 'started'; readonly job: UpstreamJob; readonly pollAfterMs?: number }

export type MediaProgress =
  /** Between 0 and 1, or null if the upstream does not report progress. */
  | { readonly kind: 'running'; readonly progress: number | null; readonly pollAfterMs?: number }
  | { readonly kind: 'done'; readonly output: MediaOutput }

export interface MediaOutput {
  readonly files: readonly OutputFile[]
  /** Duration of the video or audio, if the upstream reports it. Otherwise the requested duration is billed. */
  readonly seconds?: number
}

export type OutputFile = (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  /**
   * The gateway must copy the file soon, because such URLs expire. The headers are sent only to this URL, not to redirect
   * targets.
   */
  | { readonly kind: 'url'; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & { readonly revisedPrompt?: string }
