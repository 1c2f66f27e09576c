/** Thrown by who performs a task that cannot begin yet: it goes back into the queue for a while, and no try is counted. */
export class TaskPostponed extends Error {
  override readonly name = 'TaskPostponed'
  readonly pauseMs: number

  constructor(pauseMs: number) {
    super(`the task is postponed for ${Math.round(pauseMs)} ms`)
    this.pauseMs = pauseMs
  }
}
