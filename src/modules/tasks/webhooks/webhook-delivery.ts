import { toStorableJson } from '../../../kernel/storable-text.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Reader } from '../../keys/keys.ts'
import { addJob } from '../../../storage/job-queue.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'

/** A part of a SQL statement. Queues webhooks for the tasks that the preceding part `tasks` has finished. */
export const INSERT_DELIVERIES = `
  INSERT INTO webhook_deliveries (id, task_id, account_id, url, next_attempt_at)
  SELECT gen_random_uuid(), id, account_id, webhook_url, now() FROM tasks WHERE webhook_url IS NOT NULL`

/** The state of one webhook delivery. */
export interface WebhookDelivery {
  readonly id: string
  /**
   * It tells of a task, of a budget alert of the account, of a warning of another budget, of a closed month, of an unusual day, or of
   * what else happened to the account.
   */
  readonly taskId: string | null
  readonly budgetAlertId: string | null
  readonly budgetWarningId: string | null
  readonly statementId: string | null
  readonly usageAnomalyId: string | null
  readonly accountNoticeId: string | null
  readonly url: string
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly attempts: readonly WebhookAttempt[]
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
  readonly completedAt: Date | null
}

export interface WebhookAttempt {
  readonly at: string
  /** The status of the response; null if there was none. */
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}

interface DeliveryRow {
  readonly id: string
  readonly task_id: string | null
  readonly budget_alert_id: string | null
  readonly budget_warning_id: string | null
  readonly statement_id: string | null
  readonly usage_anomaly_id: string | null
  readonly account_notice_id: string | null
  readonly url: string
  readonly status: WebhookDelivery['status']
  readonly attempts: WebhookAttempt[]
  readonly next_attempt_at: Date | null
  readonly created_at: Date
  readonly completed_at: Date | null
}

export async function listDeliveries(
  queryable: Queryable,
  accountId: string,
  taskId: string,
): Promise<WebhookDelivery[]> {
  const rows = await queryable.query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM webhook_deliveries WHERE task_id = $1 AND account_id = $2`,
    [taskId, accountId],
  )
  return rows.map(deliveryFromRow)
}

const COLUMNS =
  'id, task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id, account_notice_id, url, status, attempts, next_attempt_at, created_at, completed_at'

function deliveryFromRow(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    taskId: row.task_id,
    budgetAlertId: row.budget_alert_id,
    budgetWarningId: row.budget_warning_id,
    statementId: row.statement_id,
    usageAnomalyId: row.usage_anomaly_id,
    accountNoticeId: row.account_notice_id,
    url: row.url,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }
}

/** What a delivery tells of. These ids rise with time. */
const SUBJECT_ID =
  'coalesce(task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id, account_notice_id)'

/**
 * Lists the deliveries of an account, those of the newest task or alert first. The cursor is the id of a delivery, because an alert may
 * have several. A reader of one key or project sees those of its tasks, and no alerts, which are about the account.
 */
export async function listAllDeliveries(
  queryable: Queryable,
  reader: Reader,
  status: WebhookDelivery['status'] | null,
  { limit, afterId }: PageRequest,
): Promise<Page<WebhookDelivery>> {
  const { ownKeyId } = reader
  const isListed = `${isDeliveryWithin(reader, '$1')} AND ($2::text IS NULL OR status = $2)
    AND ($3::uuid IS NULL OR EXISTS (SELECT FROM tasks WHERE tasks.id = task_id AND tasks.key_id = $3))`
  const [rows, [count]] = await Promise.all([
    queryable.query<DeliveryRow>(
      `SELECT ${COLUMNS} FROM webhook_deliveries WHERE ${isListed} AND (${SUBJECT_ID}, id) <
         (coalesce((SELECT ${SUBJECT_ID} FROM webhook_deliveries WHERE id = $4), $4), $4::uuid)
       ORDER BY ${SUBJECT_ID} DESC, id DESC LIMIT $5`,
      [idsOf(reader), status, ownKeyId, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(`SELECT count(*) AS total FROM webhook_deliveries WHERE ${isListed}`, [
      idsOf(reader),
      status,
      ownKeyId,
    ]),
  ])
  return {
    items: rows.slice(0, limit).map(deliveryFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

/** SQL: whether a delivery tells of a task within the place. Those of budget alerts are only within the account. */
export function isDeliveryWithin(place: Place, parameter: string): string {
  return place.projectId === null
    ? isWithin(place, parameter)
    : `EXISTS (SELECT FROM tasks WHERE tasks.id = task_id AND ${isWithin(place, parameter, 'tasks')})`
}

/** Reads one delivery of an account, or returns undefined. */
export async function findDelivery(
  queryable: Queryable,
  place: Place,
  deliveryId: string,
): Promise<WebhookDelivery | undefined> {
  const [row] = await queryable.query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM webhook_deliveries WHERE id = $1 AND ${isDeliveryWithin(place, '$2')}`,
    [deliveryId, idsOf(place)],
  )
  return row && deliveryFromRow(row)
}

/** So that nobody uses the gateway to flood people. */
const MAILS_OF_DAY_MAX = 500

/** The columns with what a delivery tells of. */
type SubjectColumn =
  | 'budget_alert_id'
  | 'budget_warning_id'
  | 'statement_id'
  | 'usage_anomaly_id'
  | 'account_notice_id'

interface NewDelivery {
  readonly accountId: string
  /** May be an address for mail: `mailto:ada@example.com`. */
  readonly url: string
}

/** Queues a delivery, in the transaction that writes what it tells of. */
async function queueDelivery(
  transaction: Queryable,
  column: SubjectColumn,
  subjectId: string,
  { accountId, url }: NewDelivery,
): Promise<void> {
  await transaction.query(
    `INSERT INTO webhook_deliveries (id, ${column}, account_id, url, next_attempt_at)
     SELECT gen_random_uuid(), $1::uuid, $2::uuid, $3, now() WHERE NOT starts_with($3, 'mailto:') OR $4 > (
       SELECT count(*) FROM webhook_deliveries
       WHERE account_id = $2 AND starts_with(url, 'mailto:') AND created_at > now() - interval '1 day')`,
    [subjectId, accountId, url, MAILS_OF_DAY_MAX],
  )
  await addJob(transaction, 'webhook')
}

export function queueAlertWebhook(
  transaction: Queryable,
  { budgetAlertId, ...delivery }: NewDelivery & { readonly budgetAlertId: string },
): Promise<void> {
  return queueDelivery(transaction, 'budget_alert_id', budgetAlertId, delivery)
}

export function queueWarning(
  transaction: Queryable,
  { budgetWarningId, ...delivery }: NewDelivery & { readonly budgetWarningId: string },
): Promise<void> {
  return queueDelivery(transaction, 'budget_warning_id', budgetWarningId, delivery)
}

export function queueStatementWebhook(
  transaction: Queryable,
  { statementId, ...delivery }: NewDelivery & { readonly statementId: string },
): Promise<void> {
  return queueDelivery(transaction, 'statement_id', statementId, delivery)
}

export function queueAnomalyWebhook(
  transaction: Queryable,
  { usageAnomalyId, ...delivery }: NewDelivery & { readonly usageAnomalyId: string },
): Promise<void> {
  return queueDelivery(transaction, 'usage_anomaly_id', usageAnomalyId, delivery)
}

export function queueNoticeWebhook(
  transaction: Queryable,
  { accountNoticeId, ...delivery }: NewDelivery & { readonly accountNoticeId: string },
): Promise<void> {
  return queueDelivery(transaction, 'account_notice_id', accountNoticeId, delivery)
}

/** A due webhook that this process has leased. */
export interface DueDelivery {
  readonly id: string
  readonly taskId: string | null
  readonly budgetAlertId: string | null
  readonly budgetWarningId: string | null
  readonly statementId: string | null
  readonly usageAnomalyId: string | null
  readonly accountNoticeId: string | null
  readonly accountId: string
  readonly url: string
  readonly attemptsMade: number
}

/** The lease on a delivery. If the process dies, another may take the delivery after this time. */
export const TAKEN_MS = 60_000

export async function takeDueDeliveries(queryable: Queryable, limit: number): Promise<DueDelivery[]> {
  const rows = await queryable.query<{
    id: string
    task_id: string | null
    budget_alert_id: string | null
    budget_warning_id: string | null
    statement_id: string | null
    usage_anomaly_id: string | null
    account_notice_id: string | null
    account_id: string
    url: string
    attempts: number
  }>(TAKE_DUE, [limit, TAKEN_MS])
  return rows.map((row) => ({
    id: row.id,
    taskId: row.task_id,
    budgetAlertId: row.budget_alert_id,
    budgetWarningId: row.budget_warning_id,
    statementId: row.statement_id,
    usageAnomalyId: row.usage_anomaly_id,
    accountNoticeId: row.account_notice_id,
    accountId: row.account_id,
    url: row.url,
    attemptsMade: row.attempts,
  }))
}

const TAKE_DUE = `
  UPDATE webhook_deliveries SET next_attempt_at = now() + $2 * interval '1 millisecond'
  WHERE id IN (
    SELECT id FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at <= now()
    ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING id, task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id, account_notice_id, account_id, url, jsonb_array_length(attempts) AS attempts`

/** Stores an attempt. Returns the time of the next one by the database clock, or null if it was delivered or the last. */
export async function recordAttempt(
  queryable: Queryable,
  deliveryId: string,
  attempt: WebhookAttempt,
  next: { status: WebhookDelivery['status']; pauseMs: number | null },
): Promise<Date | null> {
  const values = [deliveryId, toStorableJson([attempt]), next.status, next.pauseMs]
  const [row] = await queryable.query<{ next_attempt_at: Date | null }>(RECORD, values)
  return row?.next_attempt_at ?? null
}

const RECORD = `
  UPDATE webhook_deliveries SET attempts = attempts || $2::jsonb, status = $3,
    next_attempt_at = now() + $4::float8 * interval '1 millisecond',
    completed_at = CASE WHEN $3 = 'pending' THEN NULL ELSE now() END
  WHERE id = $1 AND status = 'pending' RETURNING next_attempt_at`
