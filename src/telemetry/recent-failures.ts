/** A call of an upstream that failed. */
export interface FailedCall {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly upstreamModel: string
  /** Empty if it is not known. */
  readonly model: string
  readonly accountId: string
  /** The kind of failure: `status`, `timeout`, `connect` and so on. */
  readonly failure: string
  readonly status: number | null
  readonly code: string | null
  /** Whether it counts for the breaker of its model. */
  readonly isBreakerFailure: boolean
}

/** Equal failures and how many there were. */
export interface FailureCount extends FailedCall {
  readonly calls: number
}

const KEPT_MAX = 5_000
const WINDOW_MS = 300_000
const LISTED_MAX = 20

/** The failed calls of this process in the last five minutes, at most the newest 5,000. */
export class RecentFailures {
  readonly #kept: { readonly atMs: number; readonly call: FailedCall }[] = []
  #next = 0

  note(call: FailedCall): void {
    this.#kept[this.#next] = { atMs: performance.now(), call }
    this.#next = (this.#next + 1) % KEPT_MAX
  }

  /** The most frequent first. */
  list(): FailureCount[] {
    const sinceMs = performance.now() - WINDOW_MS
    const counts = new Map<string, FailureCount>()
    for (const { atMs, call } of this.#kept) {
      if (atMs < sinceMs) continue
      const name = JSON.stringify(call)
      counts.set(name, { ...call, calls: (counts.get(name)?.calls ?? 0) + 1 })
    }
    return [...counts.values()].toSorted((a, b) => b.calls - a.calls).slice(0, LISTED_MAX)
  }
}
