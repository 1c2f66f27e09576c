import type { Logger } from '../../kernel/logger.ts'
import { ChangeWaiters } from '../../storage/change-waiters.ts'
import { createTaskChanges, type TaskBus } from '../tasks/tasks.ts'

/** Told to every process, so that whoever follows the response looks again. */
const TOPIC = 'responses.changed'

/** Nobody relies on it: who misses a message looks by itself some seconds later. */
export function createResponseChanges({ messageBus, logger }: { messageBus: TaskBus; logger: Logger }) {
  const tasks = createTaskChanges({ messageBus, logger })
  const waiters = new ChangeWaiters({
    // What fails or is cancelled changes its task and nothing else.
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
    /** For the response or its task to change, by their ids. */
    wait: waiters.wait.bind(waiters),
  }
}

export type ResponseChanges = ReturnType<typeof createResponseChanges>
