import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { Batches } from '../../kernel/batches.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { errorCodeOf } from '../../storage/storage-error.ts'
import { lockStoredBytes, noRoomLeft, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import { hasKeyCap, isRefusal, type Ledger } from '../ledger/ledger.ts'
import { chargeOf, holdKeyOf, holdOrderOf, insertTasks, payerOf, planTask, type NewTask } from './new-task.ts'
import type { Task, TaskOrder } from './task.ts'
import { TASK_COLUMNS, taskFromRow, type TaskRow } from './task-row.ts'

export type TaskLedger = Pick<
  Ledger,
  'capsOf' | 'openHold' | 'openHolds' | 'growHold' | 'settleHold' | 'settleHolds' | 'releaseHold' | 'recall'
>

interface TaskCreatorOptions {
  readonly database: Database
  /** Null if the gateway runs without billing. */
  readonly ledger: TaskLedger | null
  readonly clock: Clock
  readonly retentionMs: number
  /** Returns the provider that is expected to do the work, for the concurrency limits of providers. */
  readonly providerOf: (model: string, environment: string) => string | null
  readonly quotaOf: QuotaOf
}

const BATCH_MAX = 50

/**
 * Stores tasks with their holds and jobs. Tasks that arrive while others are being written share the next transaction. A task
 * that the batch could not cover gets a transaction of its own.
 */
export class TaskCreator {
  readonly #options: TaskCreatorOptions
  readonly #batches = new Batches<NewTask, TaskRow | null>((tasks) => this.#writeBatch(tasks), BATCH_MAX)

  constructor(options: TaskCreatorOptions) {
    this.#options = options
  }

  async create(order: TaskOrder): Promise<Task> {
    const { clock, retentionMs, providerOf, ledger, quotaOf } = this.#options
    const task = planTask(order, {
      nowMs: clock.nowMs(),
      retentionMs,
      provider: providerOf(order.model, order.caller.environment),
      isHeld: ledger !== null && order.isChargedByCall !== true,
      storedBytesMax: await quotaOf(order.caller.accountId, 'task'),
    })
    // A key with a spending cap is checked in a transaction of its own. So is every task of a failed batch, which gives each its
    // own error.
    const isAlone = task.isHeld && hasKeyCap(order.caller)
    const row = isAlone ? null : await this.#batches.add(task).catch(() => null)
    return row === null ? this.#createAlone(task) : taskFromRow(row)
  }

  #writeBatch(tasks: readonly NewTask[]): Promise<(TaskRow | null)[]> {
    const { database, ledger } = this.#options
    return database.transaction(async (transaction) => {
      const rooms = await lockRooms(transaction, tasks)
      const fitting = tasks.filter((task) => takeBytes(rooms, task) === null)
      const orders = fitting.filter(({ isHeld }) => isHeld).map(holdOrderOf)
      const held = orders.length === 0 ? null : await ledger?.openHolds(transaction, orders)
      const covered = fitting.filter(({ id, isHeld }) => !isHeld || held?.has(holdKeyOf(id)) === true)
      const rows = covered.length === 0 ? [] : await insertTasks(transaction, covered)
      if (rows.length < covered.length) throw new Error('a request has made a task before')
      const byId = new Map(rows.map((row) => [row.id, row]))
      return tasks.map(({ id }) => byId.get(id) ?? null)
    })
  }

  async #createAlone(task: NewTask): Promise<Task> {
    try {
      return await this.#writeAlone(task)
    } catch (error) {
      const { ledger } = this.#options
      if (ledger === null || !isRefusal(error)) throw explain(error)
      // The missing credit may be lent to processes that do not use it.
      await ledger.recall(task.order.caller.accountId)
      return this.#writeAlone(task)
    }
  }

  #writeAlone(task: NewTask): Promise<Task> {
    const { database, ledger } = this.#options
    return database.transaction(async (transaction) => {
      const rooms = await lockRooms(transaction, [task])
      const [row] = await insertTasks(transaction, [task])
      if (row === undefined) return readRepeated(transaction, task)
      const refusal = takeBytes(rooms, task)
      if (refusal !== null) throw refusal
      if (ledger !== null && task.isHeld) {
        const caps = await ledger.capsOf(transaction, payerOf(task), chargeOf(task))
        await ledger.openHold(transaction, { ...holdOrderOf(task), caps })
      }
      return taskFromRow(row)
    })
  }
}

interface Room {
  usedBytes: number
  readonly bytesMax: number
}

/**
 * Returns the storage quota and usage of the accounts that have a quota. They stay locked until the transaction ends, so that
 * tasks of other processes are counted.
 */
async function lockRooms(transaction: Queryable, tasks: readonly NewTask[]): Promise<Map<string, Room>> {
  const rooms = new Map<string, Room>()
  for (const { order, storedBytesMax: bytesMax } of tasks)
    if (bytesMax !== null) rooms.set(order.caller.accountId, { usedBytes: 0, bytesMax })
  if (rooms.size === 0) return rooms
  for (const [accountId, bytes] of await lockStoredBytes(transaction, [...rooms.keys()], 'task')) {
    const room = rooms.get(accountId)
    if (room !== undefined) room.usedBytes = bytes
  }
  return rooms
}

/** Reserves the bytes of a task. Returns the error if the task does not fit. */
function takeBytes(rooms: ReadonlyMap<string, Room>, { order }: NewTask): AppError | null {
  const room = rooms.get(order.caller.accountId)
  if (room === undefined) return null
  const bytes = Buffer.byteLength(JSON.stringify([order.work ?? null, order.metadata]))
  if (room.usedBytes + bytes > room.bytesMax) return noRoomLeft('task', room)
  room.usedBytes += bytes
  return null
}

async function readRepeated(transaction: Queryable, { order }: NewTask): Promise<Task> {
  const [row] = await transaction.query<TaskRow>(
    `SELECT ${TASK_COLUMNS} FROM tasks WHERE request_id = $1 AND account_id = $2`,
    [order.requestId, order.caller.accountId],
  )
  if (row === undefined) throw new Error(`the request ${order.requestId} belongs to another account`)
  return taskFromRow(row)
}

/** A request creates at most one task, so a retry with the same request id finds it. */
function mayBeMade(cause: AppError): AppError {
  const message =
    'The gateway lost its database while it saved the task, which may have been made and may be charged. Look for it in ' +
    'GET /v1/tasks before sending the request again. Only with an Idempotency-Key is sending it again safe.'
  return new AppError(cause.code, message, { mayBeDone: true, isOnceByRequestId: true, cause })
}

// The error codes of PostgreSQL for text with U+0000 or lone surrogates, which it cannot store.
const UNKEEPABLE_CODES = new Set(['22P05', '22P02', '22021'])

function explain(error: unknown): unknown {
  if (error instanceof AppError && error.mayBeDone) return mayBeMade(error)
  if (!UNKEEPABLE_CODES.has(errorCodeOf(error) ?? '')) return error
  return invalidValue('prompt', 'The request holds characters that are not text, such as U+0000.')
}
