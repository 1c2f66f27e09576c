/** Costs per million tokens: $1 input, $10 output. */
export const MODEL = 'metered'

/** How one request of the load ended, as its client saw it. Times are of the clock of this machine. */
export interface Ended {
  readonly number: number
  readonly isStream: boolean
  readonly sentAtMs: number
  readonly endedAtMs: number
  readonly status: number | null
  readonly requestId: string | null
  /** Whether all of the answer arrived, a stream up to `[DONE]`. */
  readonly isComplete: boolean
  readonly retryAfter: string | null
  readonly code: string | null
  /** Whether all of the text arrived, although perhaps not the end of the stream. */
  readonly hasText: boolean
}

/** An answer that the vendor made, by the gateway's id of the request. */
export interface Answered {
  readonly requestId: string
  readonly number: number
  readonly promptTokens: number
  readonly completionTokens: number
}

export interface Question {
  readonly method: string
  readonly url: string
  readonly key: string | null
  readonly body?: unknown
}

export type ToClients =
  | { readonly kind: 'load'; readonly url: string; readonly key: string; readonly rate: number }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }

export type FromClients =
  | { readonly kind: 'ended'; readonly ended: readonly Ended[]; readonly open: number }
  | { readonly kind: 'answer'; readonly id: number; readonly status: number; readonly body: unknown }

export type FromVendor = { readonly kind: 'answered'; readonly answered: readonly Answered[] }

export function report(message: FromClients | FromVendor): void {
  process.send?.(message)
}
