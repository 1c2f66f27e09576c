import type { Cancellation } from '../kernel/cancellation.ts'
import type { UpstreamTimeouts } from './upstream-timeouts.ts'

/** A file of the client, in memory: images and short audio. */
export interface InputFile {
  readonly bytes: Uint8Array
  readonly contentType: string
}

/**
 * Work that may take minutes. `start` either has it done, or says by which job it goes on; that job is stored before anything
 * else happens, so that a process that takes over asks `check` instead of submitting and paying again. Everything throws an
 * `UpstreamError` and nothing else; a cancelled call rejects with the reason of its cancellation.
 */
export interface MediaOperation<Work> {
  start(call: MediaCall<Work>): Promise<MediaStart>
  /** One look. Throws with status 404 for a job the upstream does not know any more, and when the job failed. */
  check?(call: JobCall): Promise<MediaProgress>
  /** Where the upstream has a call for it. A job that has ended meanwhile is no error. */
  cancel?(call: JobCall): Promise<void>
  /** The job of a `start` whose answer never came, where the upstream can be asked; null when there is none. */
  find?(call: MediaCall<Work>): Promise<UpstreamJob | null>
}

export interface MediaCall<Work> {
  readonly work: Work
  readonly upstreamModel: string
  /** The same for every try of one piece of work: the idempotency key where the upstream takes one. */
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

export interface JobCall {
  readonly job: UpstreamJob
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

/** Plain JSON: all that a process needs to find the job again. */
export interface UpstreamJob {
  readonly id: string
  readonly data?: Readonly<Record<string, unknown>>
}

export type MediaStart =
  | { readonly kind: 'done'; readonly output: MediaOutput }
  | { readonly kind: 'started'; readonly job: UpstreamJob; readonly pollAfterMs?: number }

export type MediaProgress =
  /** Between 0 and 1, or null where the upstream does not tell. */
  | { readonly kind: 'running'; readonly progress: number | null; readonly pollAfterMs?: number }
  | { readonly kind: 'done'; readonly output: MediaOutput }

export interface MediaOutput {
  readonly files: readonly OutputFile[]
  /** Of the video or audio made, where the upstream tells; otherwise what was asked for counts. */
  readonly seconds?: number
}

export type OutputFile = (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  /** To be copied by the gateway soon: such addresses expire. The headers go only to that address, not to where it redirects. */
  | { readonly kind: 'url'; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & { readonly revisedPrompt?: string }
