/** Thrown by a performer if a task cannot begin yet. The task returns to the queue for the pause, and no attempt is counted. */
export class TaskPostponed extends Error {
  override readonly name = 'TaskPostponed'
  readonly pauseMs: number

  constructor(pauseMs: number) {
    super(`the task is postponed for ${Math.round(pauseMs)} ms`)
    this.pauseMs = pauseMs
  }
}
