/** Runs one piece of work at a time, in the order in which they come. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#last.then(work, work)
    this.#last = run.catch(() => {})
    return run
  }
}
