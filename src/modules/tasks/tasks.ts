import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { ChangeWaiters } from '../../storage/bus/change-waiters.ts'
import type { Database } from '../../storage/database.ts'
import type { QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import type { Reader } from '../keys/keys.ts'
import type { Media } from '../media/media.ts'
import { cancelTask, type CancelOptions } from './cancel-task.ts'
import { TaskCreator, type TaskLedger } from './create-tasks.ts'
import { presentResult } from './results/present-result.ts'
import { readOrder, type StoredOrder } from './read-order.ts'
import { countTasks, findTaskOfRequest, listTasks, type TaskOfRequest } from './read-tasks.ts'
import { isTerminal, type Task, type TaskFilter, type TaskOrder } from './task.ts'
import { createTaskChanges, type TaskBus } from './task-changes.ts'
import { TaskReader } from './task-reader.ts'
import { redeliverWebhook } from './webhooks/redeliver-webhook.ts'
import {
  listAllDeliveries,
  listDeliveries,
  type WebhookDelivery,
  takeDueDeliveries,
} from './webhooks/webhook-delivery.ts'
import type { WebhookSecret, WebhookSecrets } from './webhooks/webhook-secret.ts'
import { checkWebhookUrl, type WebhookHosts } from './webhooks/check-webhook-url.ts'
import { messageOf } from '../../storage/storage-error.ts'
import type { Place } from '../../storage/place.ts'
import { deliverWebhook, type DeliverOptions } from './webhooks/deliver-webhook.ts'

export { signWebhook } from './webhooks/sign-webhook.ts'
export {
  createWebhookSecrets,
  SEALED_WEBHOOK_SECRETS,
  type WebhookSecrets,
} from './webhooks/webhook-secret.ts'
export { checkWebhookUrl, type WebhookHosts } from './webhooks/check-webhook-url.ts'
export type { Claim, TaskLimits } from './work/claim-tasks.ts'
export type { TaskOfRequest } from './read-tasks.ts'
export {
  queueAlertWebhook,
  queueAnomalyWebhook,
  queueNoticeWebhook,
  queueStatementWebhook,
  queueWarning,
  type WebhookDelivery,
} from './webhooks/webhook-delivery.ts'
export { ATTEMPTS_MAX, reclaimTasks } from './work/hand-back-tasks.ts'
export { forgetTasks } from './results/forget-tasks.ts'
export { sweepResults } from './results/sweep-results.ts'
export { isTerminal, TASK_STATUSES, TASK_TYPES } from './task.ts'
export type { Task, TaskOrder, TaskType } from './task.ts'
export { createTaskChanges, type TaskBus } from './task-changes.ts'
export type {
  ClaimedTask,
  StoredJob,
  SubmitTarget,
  TaskControl,
  TaskOutcome,
  TaskPerformer,
} from './work/task-performer.ts'
export { createTaskQueue } from './work/task-queue.ts'
export type { TaskQueue } from './work/task-queue.ts'
export { daysToMs } from './task-times.ts'

/**
 * Asynchronous work. A task is created with its hold and its job in one transaction, run by workers, and settled when it ends.
 */
export interface Tasks {
  create(order: TaskOrder): Promise<Task>
  /** `baseUrl` is the gateway's address as the client sees it, for the URLs of files. The same applies below. */
  read(place: Place, taskId: string, baseUrl?: string): Promise<Task>
  /** Returns the task after its next change, or unchanged after the timeout. */
  readAfterChange(
    place: Place,
    taskId: string,
    wait: { seconds: number; cancellation: Cancellation; baseUrl?: string },
  ): Promise<Task>
  /** Lists what the reader may see. A task whose id is known can be read with any key of its project. */
  list(reader: Reader, filter: TaskFilter, page: PageRequest, baseUrl?: string): Promise<Page<Task>>
  /** Throws `task_not_cancellable` for a finished task. */
  cancel(place: Place, taskId: string): Promise<Task>
  /** Counts the tasks of all accounts. */
  count(): Promise<{ pending: number; processing: number }>
  /** Returns the task that a request has made; null for none. */
  findOfRequest(place: Place, requestUuid: string): Promise<TaskOfRequest | null>
  /** Returns what the task was created with. */
  readOrder(place: Place, taskId: string): Promise<StoredOrder>
  listDeliveries(place: Place, taskId: string): Promise<WebhookDelivery[]>
  /** Of all tasks and budget alerts that the reader may see, those of the newest first. */
  listAllDeliveries(
    reader: Reader,
    status: WebhookDelivery['status'] | null,
    page: PageRequest,
  ): Promise<Page<WebhookDelivery>>
  redeliver(place: Place, deliveryId: string): Promise<WebhookDelivery>
  readWebhookSecret(accountId: string): Promise<WebhookSecret>
  rotateWebhookSecret(accountId: string): Promise<WebhookSecret>
  close(): Promise<void>
}

export interface TasksOptions extends Pick<CancelOptions, 'writer' | 'isCancelBilled'> {
  readonly database: Database
  readonly messageBus: TaskBus
  /** Null if the gateway runs without billing. */
  readonly ledger: TaskLedger | null
  readonly media: Pick<Media, 'addressOf'>
  readonly clock: Clock
  readonly logger: Logger
  readonly retentionMs: number
  /** The lifetime of the URLs of results. */
  readonly addressMs: number
  readonly webhookHosts: WebhookHosts
  readonly webhookSecrets: WebhookSecrets
  /** Returns the provider that is expected to serve a model, for the concurrency limits of providers. Null if unknown. */
  readonly providerOf: (model: string, environment: string) => string | null
  readonly quotaOf: QuotaOf
}

export function createTasks(options: TasksOptions): Tasks {
  const { database, clock, media } = options
  const changes = createTaskChanges(options)
  const waiters = new ChangeWaiters(changes)
  const creator = new TaskCreator(options)
  const reader = new TaskReader(database)

  const present = (task: Task, baseUrl?: string): Task => {
    if (task.result === null) return task
    const expiresAt = new Date(Math.min(clock.nowMs() + options.addressMs, task.expiresAt.getTime()))
    return presentResult(task, (id) => media.addressOf({ id, expiresAt }, baseUrl))
  }

  const readAfterChange: Tasks['readAfterChange'] = async (place, taskId, wait) => {
    const { seconds, cancellation, baseUrl } = wait
    const endMs = performance.now() + seconds * 1000
    for (let before: Task | null = null; ;) {
      const leftMs = endMs - performance.now()
      const change = waiters.wait([taskId], { timeoutMs: Math.max(0, leftMs), cancellation })
      try {
        const task: Task = await reader.read(place, taskId)
        const isChanged = before !== null && before.status !== task.status
        if (isChanged || isTerminal(task.status) || leftMs <= 0 || cancellation.isCancelled)
          return present(task, baseUrl)
        before ??= task
        await change.changed
      } finally {
        change.end()
      }
    }
  }

  return {
    create: async (order) => {
      if (order.webhookUrl !== null) await checkWebhookUrl(order.webhookUrl, options.webhookHosts)
      return present(await creator.create(order))
    },
    read: async (place, taskId, baseUrl) => present(await reader.read(place, taskId), baseUrl),
    readAfterChange,
    list: async (owner, filter, page, baseUrl) => {
      const { items, ...rest } = await listTasks(database, owner, filter, page)
      return { ...rest, items: items.map((task) => present(task, baseUrl)) }
    },
    cancel: async (place, taskId) => {
      const task = await cancelTask({ ...options, reader }, place, taskId)
      changes.announceCancelled(taskId)
      changes.announce([taskId])
      return task
    },
    count: () => countTasks(database),
    findOfRequest: (place, requestUuid) => findTaskOfRequest(database, place, requestUuid),
    readOrder: (place, taskId) => readOrder(database, place, taskId),
    listDeliveries: async (place, taskId) => {
      const { id } = await reader.read(place, taskId)
      return listDeliveries(database, place.accountId, id)
    },
    listAllDeliveries: (owner, status, page) => listAllDeliveries(database, owner, status, page),
    redeliver: (place, deliveryId) => redeliverWebhook(database, place, deliveryId),
    readWebhookSecret: (accountId) => options.webhookSecrets.read(accountId),
    rotateWebhookSecret: (accountId) => options.webhookSecrets.rotate(accountId),
    close: async () => waiters.close(),
  }
}

const DELIVERIES_AT_ONCE = 20
const ROUNDS_MAX = 50

/** Sends all due webhooks, many concurrently. Several processes may do this at once: each takes different deliveries. */
export async function deliverDueWebhooks(
  options: DeliverOptions & { readonly logger: Logger },
): Promise<void> {
  const { database, logger } = options
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const due = await takeDueDeliveries(database, DELIVERIES_AT_ONCE)
    await Promise.all(
      due.map((delivery) =>
        deliverWebhook(options, delivery).catch((error: unknown) => {
          // The delivery becomes due again when its lease ends.
          logger.warn({ reason: messageOf(error), deliveryId: delivery.id }, 'a webhook could not be tried')
        }),
      ),
    )
    if (due.length < DELIVERIES_AT_ONCE) return
  }
}

/** Thrown by a performer if a task cannot begin yet. The task returns to the queue for the pause, and no attempt is counted. */
export class TaskPostponed extends Error {
  override readonly name = 'TaskPostponed'
  readonly pauseMs: number

  constructor(pauseMs: number) {
    super(`the task is postponed for ${Math.round(pauseMs)} ms`)
    this.pauseMs = pauseMs
  }
}
