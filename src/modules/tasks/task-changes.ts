import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Logger } from '../../kernel/logger.ts'

/** Published to all processes, so that requests that wait for a task read it again. */
const CHANGED_TOPIC = 'tasks.changed'
/** Published to all processes, so that the worker of the task stops. */
const CANCELLED_TOPIC = 'tasks.cancelled'

/** Each id takes its length and a comma. PostgreSQL limits the size of a message. */
const IDS_PER_MESSAGE = 150

export type TaskBus = Pick<MessageBus, 'subscribe' | 'publish' | 'onConnectionLost'>

/** Notifications only save time. If one is lost, a client waits longer. */
export function createTaskChanges({ messageBus, logger }: { messageBus: TaskBus; logger: Logger }) {
  const publish = (topic: string, taskIds: readonly string[]): void => {
    for (let start = 0; start < taskIds.length; start += IDS_PER_MESSAGE) {
      const payload = taskIds.slice(start, start + IDS_PER_MESSAGE).join(',')
      messageBus.publish(topic, payload).catch((error: unknown) => {
        logger.warn({ err: error }, 'others could not be told of changed tasks')
      })
    }
  }
  const subscribe = (topic: string, handler: (taskId: string) => void): (() => void) =>
    messageBus.subscribe(topic, (payload) => {
      for (const taskId of payload.split(',')) handler(taskId)
    })
  return {
    announce: (taskIds: readonly string[]) => publish(CHANGED_TOPIC, taskIds),
    announceCancelled: (taskId: string) => publish(CANCELLED_TOPIC, [taskId]),
    onChanged: (handler: (taskId: string) => void) => subscribe(CHANGED_TOPIC, handler),
    onCancelled: (handler: (taskId: string) => void) => subscribe(CANCELLED_TOPIC, handler),
    onMissed: (handler: () => void) => messageBus.onConnectionLost(handler),
  }
}

export type TaskChanges = ReturnType<typeof createTaskChanges>
