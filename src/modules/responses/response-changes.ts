import type { Logger } from '../../kernel/logger.ts'
import { ChangeWaiters } from '../../storage/bus/change-waiters.ts'
import { createTaskChanges, type TaskBus } from '../tasks/tasks.ts'

/** Published to all processes, so that followers of the response read it again. */
const TOPIC = 'responses.changed'

/** Notifies followers of changes. Delivery is not guaranteed: a follower that misses a message polls some seconds later. */
export function createResponseChanges({ messageBus, logger }: { messageBus: TaskBus; logger: Logger }) {
  const tasks = createTaskChanges({ messageBus, logger })
  const waiters = new ChangeWaiters({
    // A failure or a cancellation changes only the task.
    onChanged: (handler) => {
      const stops = [messageBus.subscribe(TOPIC, handler), tasks.onChanged(handler)]
      return () => {
        for (const stop of stops) stop()
      }
    },
    onMissed: (handler) => tasks.onMissed(handler),
  })
  return {
    announce: (responseId: string): void => {
      messageBus.publish(TOPIC, responseId).catch((error: unknown) => {
        logger.warn({ err: error }, 'others could not be told of a changed response')
      })
    },
    /** Waits until the response or its task changes, by their ids. */
    wait: waiters.wait.bind(waiters),
  }
}

export type ResponseChanges = ReturnType<typeof createResponseChanges>
