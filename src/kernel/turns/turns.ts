/** Runs one task at a time, in the order of the calls. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#last.then(work, work)
    this.#last = run.catch(() => {})
    return run
  }
}
