/** The process counts as busy for people this long after the last request of theirs. */
const QUIET_MS = 1_000

/** The requests to models that somebody waits for in this process. */
export class InteractiveLoad {
  readonly #routes: ReadonlySet<string>
  readonly #nowMs: () => number
  #running = 0
  #lastMs = -Infinity

  /** @param routes those that ask models: whoever follows a batch does not slow it down */
  constructor(routes: Iterable<string>, nowMs = () => performance.now()) {
    this.#routes = new Set(routes)
    this.#nowMs = nowMs
  }

  started(route: string): void {
    if (this.#routes.has(route)) this.#running += 1
  }

  finished(route: string): void {
    if (!this.#routes.has(route)) return
    this.#running -= 1
    this.#lastMs = this.#nowMs()
  }

  /** Whether a request runs, or ended a moment ago. */
  get isSeen(): boolean {
    return this.#running > 0 || this.#nowMs() - this.#lastMs < QUIET_MS
  }
}
