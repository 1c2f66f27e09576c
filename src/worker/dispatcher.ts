import type { Logger } from '../kernel/logger.ts'
import type { TaskQueue } from '../modules/tasks/tasks.ts'
import { messageOf } from '../storage/storage-error.ts'
import { RunningTask, type RunningTaskOptions, type StopReason } from './running-task.ts'

export interface DispatcherOptions extends RunningTaskOptions {
  readonly queue: TaskQueue
  /** Maximum concurrent tasks of this process. */
  readonly concurrency: number
  readonly logger: Logger
}

/** Claims tasks when it has room and has been told that tasks may be waiting. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #running = new Map<string, RunningTask>()
  readonly #ended = new Set<() => void>()
  #isWanted = false
  #claiming: Promise<void> | null = null
  #isStopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  get running(): readonly RunningTask[] {
    return [...this.#running.values()]
  }

  get hasRoom(): boolean {
    return this.#running.size < this.#options.concurrency
  }

  /** Called when tasks may be waiting. */
  wake(): void {
    this.#isWanted = true
    if (this.#claiming !== null || this.#isStopping || !this.hasRoom) return
    this.#claiming = this.#claim().finally(() => {
      this.#claiming = null
      // Handle wake-ups that arrived during the claim.
      if (this.#isWanted && this.hasRoom && !this.#isStopping) this.wake()
    })
  }

  stopTask(taskId: string, why: StopReason): void {
    this.#running.get(taskId)?.stop(why)
  }

  /** Stops claiming. Resolves when all running tasks have ended, or after the grace period. */
  async stopClaiming(graceMs: number): Promise<void> {
    this.#isStopping = true
    await this.#claiming
    if (this.#running.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      this.#ended.add(() => {
        if (this.#running.size > 0) return
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async #claim(): Promise<void> {
    const { queue, concurrency, logger } = this.#options
    this.#isWanted = false
    const room = concurrency - this.#running.size
    try {
      const claims = await queue.claim(room)
      for (const claim of claims) this.#start(new RunningTask(claim, this.#options))
      // More tasks may be waiting than there was room for.
      if (claims.length === room) this.#isWanted = true
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'tasks could not be claimed')
    }
  }

  #start(task: RunningTask): void {
    const { id } = task.claim.task
    this.#running.set(id, task)
    void task.run().finally(() => {
      if (this.#running.get(id) === task) this.#running.delete(id)
      for (const look of this.#ended) look()
      // The end of a task frees room, and perhaps a limit.
      if (this.#isWanted) this.wake()
    })
  }
}
