import type { Readable } from 'node:stream'
import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { OpenPage } from '../../kernel/page.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { atBatchPrice, type CatalogModel } from '../catalog/catalog.ts'
import type { Files } from '../files/files.ts'
import { labelsOf, type Caller } from '../keys/keys.ts'
import { refuseZeroRetention } from '../request-log/request-log.ts'
import { checkWebhookUrl, type WebhookHosts } from '../tasks/tasks.ts'
import { CHANGED_TOPIC, type Batch, type BatchWire } from './batch.ts'
import { readBatch, readBatches, type BatchName } from './batch-row.ts'
import type { FindEndpoint } from './endpoint.ts'
import type { FindBatchApi } from './handed/handing.ts'
import { forgetOldest } from './sweep-batches.ts'
import { createMessageBatch, MESSAGES_ENDPOINT } from './messages/create-message-batch.ts'
import { readMessageResults } from './results/read-message-results.ts'
import { readAnswered, type AnsweredLine, type AnsweredOrder } from './results/read-answered.ts'
import { readResults, type LineResult } from './results/read-results.ts'
import { listBatches, type BatchFilter, type BatchPage } from './list-batches.ts'
import { retryBatch } from './results/retry-batch.ts'

export { BATCH_STATUSES, hasEnded, type Batch } from './batch.ts'
export type { BatchName } from './batch-row.ts'
export type { BatchEndpoint, LineCall } from './endpoint.ts'
export type { HandedCall } from './handed/handing.ts'
export { createBatchRunner, type BatchRunner } from './batch-runner.ts'
export { InteractiveLoad } from './pace/interactive-load.ts'
export { reclaimBatches } from './claim-batch.ts'
export { sweepBatches } from './sweep-batches.ts'
export { IS_UNENDED } from './claim-batch.ts'
export { findUseByBatch } from './file-uses.ts'
export type { LineResult } from './results/read-results.ts'

/** Many requests in one file, asked in the background: each line is answered once, charged once and written once. */
export interface Batches {
  /** The lines are checked in the background. Throws if the file is not one for batches or the account has too many batches. */
  create(caller: Caller, order: BatchOrder): Promise<Batch>
  /** The same for a body of Anthropic's form, which is read in parts and closed. Requests that are wrong are errors among the results. */
  createOfMessages(caller: Caller, body: Readable): Promise<Batch>
  /** Asks the lines of an ended batch that have no answer in another one. Throws `conflict` if there is none. */
  retry(caller: Caller, name: BatchName): Promise<Batch>
  read(place: Place, name: BatchName): Promise<Batch>
  /** Those of these ids that the place has. */
  readMany(place: Place, ids: readonly string[]): Promise<readonly Batch[]>
  /** The results of an ended batch, one line at a time. Throws `not_found` if one of its files was deleted. */
  readResults(place: Place, batch: Batch): Promise<AsyncIterable<LineResult>>
  /** Returns the first lines with an answer. Throws `conflict` unless the batch has ended with answers. */
  readAnswered(place: Place, batch: Batch, order: AnsweredOrder): Promise<AnsweredLine[]>
  /** Cancels in a transaction of the caller those that have not ended. The others are left as they are. */
  cancelWithin(transaction: Queryable, ids: readonly string[]): Promise<void>
  /** Call it after that transaction. */
  tellCancelled(ids: readonly string[]): void
  /** Returns the model with the price that lines of an endpoint have. */
  priceLines(caller: Caller, endpoint: string, asked: AskedModel): CatalogModel
  /** Newest first, or those before an entry in the order of the list. */
  list(place: Place, filter: BatchFilter, page: BatchPage): Promise<OpenPage<Batch>>
  /** What runs may end and is kept. Throws `conflict` if the batch has ended in another way. */
  cancel(place: Place, name: BatchName): Promise<Batch>
  /** The results in Anthropic's form, some lines at a time. Throws `not_found` if they were deleted. */
  readMessageResults(place: Place, batch: Batch): Promise<AsyncIterable<string>>
  /** Throws `conflict` for one that has not ended. Its files go with it. */
  delete(place: Place, name: BatchName): Promise<void>
}

interface BatchOrder {
  readonly wire: BatchWire
  readonly inputFileId: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly outputSeconds: number | null
  /** Whether it runs although the balance does not cover all of it. */
  readonly runsAsFar: boolean
  /** Is called when the batch has ended. */
  readonly webhookUrl: string | null
  /** The address of the gateway as the client sees it. */
  readonly baseUrl: string | null
  /** How many lines the file has, if that is known. */
  readonly linesTotal?: number
  /** The most that a line may cost. */
  readonly lineNanoUsdMax?: NanoUsd | null
  /** Called in the transaction that makes the batch, which is not made if it throws. */
  readonly onMade?: (transaction: Queryable, batchId: string) => Promise<void>
}

/** A model, by the name that its lines give it. */
interface AskedModel {
  readonly name: string
  readonly model: CatalogModel
}

interface BatchesOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'publish'>
  readonly files: Pick<Files, 'store' | 'read' | 'open' | 'delete' | 'requireRoom'>
  readonly findEndpoint: FindEndpoint
  readonly findBatchApi: FindBatchApi
  readonly webhookHosts: WebhookHosts
  readonly clock: Clock
  readonly logger: Logger
}

/** Of one account. */
const UNENDED_MAX = 100
const QUEUE_FULL_RETRY_SECONDS = 60
const LIFETIME_MS = 24 * 60 * 60_000

export function createBatches(options: BatchesOptions): Batches {
  const { database, files, findEndpoint, findBatchApi, webhookHosts, clock } = options
  const create: Batches['create'] = async (caller, order) => {
    if (findEndpoint(order.endpoint) === undefined)
      throw invalidValue('endpoint', `'${order.endpoint}' takes no batches.`)
    if (order.webhookUrl !== null) await checkWebhookUrl(order.webhookUrl, webhookHosts)
    const file = await files.read(caller, order.inputFileId).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
      throw new AppError('not_found', 'No such file.', { param: 'input_file_id' })
    })
    if (file.purpose !== 'batch')
      throw invalidValue('input_file_id', "The file must have the purpose 'batch'.")
    // Results are stored beyond the quota, so that one input file could fill the store again and again.
    await files.requireRoom(caller)
    const nowMs = clock.nowMs()
    const id = createId(nowMs)
    await database.transaction(async (transaction) => {
      await insertBatch(transaction, caller, { ...order, id, nowMs })
      await order.onMade?.(transaction, id)
    })
    tell(options, `${id} created`)
    return readBatch(database, caller, { id, wire: order.wire })
  }
  return {
    create,
    createOfMessages: (caller, body) =>
      createMessageBatch(files, { caller, body }, (order) =>
        create(caller, {
          ...order,
          wire: 'messages',
          endpoint: MESSAGES_ENDPOINT,
          metadata: null,
          runsAsFar: true,
          webhookUrl: null,
          baseUrl: null,
        }),
      ),
    retry: async (caller, name) => {
      const batch = await readBatch(database, caller, name)
      const { linesTotal: _, ...order } = batch
      return retryBatch(files, { caller, batch }, (inputFileId) => create(caller, { ...order, inputFileId }))
    },
    read: (place, name) => readBatch(database, place, name),
    readMany: (place, ids) => readBatches(database, place, ids),
    readResults: (place, batch) => readResults(files, place, batch),
    readAnswered: (place, batch, order) => readAnswered(files, { place, batch }, order),
    cancelWithin: async (transaction, ids) => {
      await transaction.query(
        `UPDATE batches SET status = 'cancelling', cancelling_at = now()
         WHERE id = ANY ($1::uuid[]) AND status IN ('validating', 'in_progress')`,
        [ids],
      )
    },
    tellCancelled: (ids) => {
      for (const id of ids) tell(options, `${id} cancelled`)
    },
    priceLines: (caller, path, { name, model }) => {
      const handing = findEndpoint(path)?.handingOf(caller, { model: name }) ?? null
      const api = handing === null ? null : findBatchApi(handing.providerId)
      return atBatchPrice(
        model,
        api === null ? { kind: 'single' } : { kind: 'handed', vendorMillionths: api.priceMillionths },
      )
    },
    list: (place, filter, page) => listBatches(database, place, filter, page),
    cancel: async (place, name) => {
      const rows = await database.query(
        `UPDATE batches SET status = 'cancelling', cancelling_at = now()
         WHERE id = $1 AND ${isWithin(place, '$2')} AND wire = $3 AND status IN ('validating', 'in_progress') RETURNING id`,
        [name.id, idsOf(place), name.wire],
      )
      const batch = await readBatch(database, place, name)
      if (rows.length > 0) tell(options, `${name.id} cancelled`)
      else if (batch.status !== 'cancelling' && batch.status !== 'cancelled')
        throw new AppError('conflict', `The batch is ${batch.status} and cannot be cancelled any more.`)
      return batch
    },
    readMessageResults: (place, { outputFileId, errorFileId }) =>
      readMessageResults(files, place, [outputFileId, errorFileId]),
    delete: async (place, name) => {
      const batch = await readBatch(database, place, name)
      const rows = await database.query(
        `DELETE FROM batches WHERE id = $1 AND status IN ('failed', 'completed', 'expired', 'cancelled') RETURNING id`,
        [name.id],
      )
      if (rows.length === 0)
        throw new AppError(
          'conflict',
          'The batch has not ended. Cancel it first, and delete it when it has ended.',
        )
      for (const fileId of [batch.inputFileId, batch.outputFileId, batch.errorFileId])
        if (fileId !== null) await files.delete(place, fileId).catch(unlessMissing)
    },
  }
}

/** Its file may be gone already. */
function unlessMissing(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error
}

/** A lost message costs a second: workers also look on their own. */
function tell({ messageBus, logger }: BatchesOptions, message: string): void {
  messageBus.publish(CHANGED_TOPIC, message).catch((error: unknown) => {
    logger.warn({ reason: messageOf(error) }, 'others could not be told of a batch')
  })
}

interface NewBatch extends BatchOrder {
  readonly id: string
  readonly nowMs: number
}

async function insertBatch(transaction: Queryable, caller: Caller, batch: NewBatch): Promise<void> {
  const { accountId, projectId, keyId } = caller
  await refuseZeroRetention(transaction, accountId, keyId)
  await lockRoom(transaction, accountId)
  const unended = await transaction.query(
    `SELECT FROM batches WHERE account_id = $1 AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling') LIMIT $2`,
    [accountId, UNENDED_MAX],
  )
  if (unended.length >= UNENDED_MAX)
    throw new AppError('queue_full', `This account may have ${UNENDED_MAX} batches that have not ended.`, {
      retryAfterSeconds: QUEUE_FULL_RETRY_SECONDS,
    })
  await forgetOldest(transaction, accountId)
  const labels = labelsOf(caller)
  await transaction.query(
    `INSERT INTO batches (id, account_id, project_id, key_id, labels, endpoint, input_file_id, output_seconds, runs_as_far,
       metadata, status, created_at, expires_at, wire, lines_total, webhook_url, base_url, line_nano_usd_max)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'validating', $11, $12, $13, $14, $15, $16, $17)`,
    [
      batch.id,
      accountId,
      projectId,
      keyId,
      labels.length === 0 ? null : labels,
      batch.endpoint,
      batch.inputFileId,
      batch.outputSeconds,
      batch.runsAsFar,
      batch.metadata === null ? null : JSON.stringify(batch.metadata),
      new Date(batch.nowMs),
      new Date(batch.nowMs + LIFETIME_MS),
      batch.wire,
      batch.linesTotal ?? 0,
      batch.webhookUrl,
      batch.baseUrl,
      batch.lineNanoUsdMax ?? null,
    ],
  )
}

/** Makes the limits on the batches of an account exact: others that begin one wait for this transaction. */
async function lockRoom(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('batches ' || $1, 0))`, [accountId])
}
