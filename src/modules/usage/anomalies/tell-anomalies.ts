import { notFound } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { DAY_MS, floorHour } from '../usage-range.ts'
import type { SpendingAnomaly } from './find-anomaly.ts'
import { readComparison, type WeekdayComparison } from './read-comparison.ts'

/** An unusual day, as the account was told of it. */
export interface ToldAnomaly {
  readonly id: string
  readonly createdAtMs: number
  /** What `describe` made of it. */
  readonly content: object
}

export interface TellOptions {
  readonly database: Database
  readonly nowMs: number
  readonly logger: Logger
  /** What is stored and told. */
  readonly describe: (compared: WeekdayComparison) => object
  /** Queues what tells of it, in the transaction that stores the anomaly. */
  readonly queueWebhooks: (
    transaction: Queryable,
    anomaly: { readonly accountId: string; readonly usageAnomalyId: string },
  ) => Promise<void>
  /** Whether there is a server for mail. */
  readonly canMail: boolean
}

/** In one transaction. */
const ACCOUNTS_AT_ONCE = 20
/** Of one call, so that a process that stops does not wait for long. The next call goes on. */
const WORK_MS_MAX = 5_000
const CHECKS_KEPT_MS = 2 * DAY_MS
/** As long as budget alerts. */
const KEPT_DAYS = 400
const DELETED_AT_ONCE = 10_000

/**
 * Tells accounts with a webhook or an address for alerts that their day is unusual, once per day and cause. Each account is looked at once an hour, by any process. Returns
 * how many were told.
 */
export async function tellAnomalies(options: TellOptions): Promise<number> {
  const { database, nowMs } = options
  const hour = new Date(floorHour(nowMs))
  await database.query('INSERT INTO usage_anomaly_checks (hour) VALUES ($1) ON CONFLICT DO NOTHING', [hour])
  await database.query('DELETE FROM usage_anomaly_checks WHERE hour < $1', [new Date(nowMs - CHECKS_KEPT_MS)])
  await database.query(
    `DELETE FROM usage_anomalies WHERE id IN (
       SELECT id FROM usage_anomalies WHERE created_at < now() - $1 * interval '1 day' LIMIT $2)`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  )
  const untilMs = performance.now() + WORK_MS_MAX
  let told = 0
  do {
    const found = await database.transaction((transaction) => tellSome(options, transaction, hour))
    if (found === null) return told
    told += found
  } while (performance.now() < untilMs)
  return told
}

/** Returns how many of the next accounts were told. Null if all of this hour are done, or another process is at it. */
async function tellSome(options: TellOptions, transaction: Queryable, hour: Date): Promise<number | null> {
  const [check] = await transaction.query<{ after: string }>(
    'SELECT after_account_id AS after FROM usage_anomaly_checks WHERE hour = $1 AND NOT is_done FOR UPDATE SKIP LOCKED',
    [hour],
  )
  if (check === undefined) return null
  const since = new Date(options.nowMs - DAY_MS)
  const watchers = await transaction.query<Watcher>(LIST_WATCHERS, [
    check.after,
    since,
    ACCOUNTS_AT_ONCE,
    options.canMail,
  ])
  let told = 0
  for (const watcher of watchers) if (await tellOrSkip(options, transaction, watcher)) told += 1
  await transaction.query(
    'UPDATE usage_anomaly_checks SET after_account_id = $2, is_done = $3 WHERE hour = $1',
    [hour, watchers.at(-1)?.account_id ?? check.after, watchers.length < ACCOUNTS_AT_ONCE],
  )
  return told
}

interface Watcher {
  readonly account_id: string
}

/** Accounts that are told of budgets, and that have spent something since a day ago. */
const LIST_WATCHERS = `
  SELECT account_id FROM budget_alert_settings AS settings
  WHERE (webhook_url IS NOT NULL OR $4 AND alert_emails <> '{}') AND account_id > $1::uuid AND EXISTS (
    SELECT FROM spend_by_day WHERE spend_by_day.account_id = settings.account_id AND day >= ($2::timestamptz AT TIME ZONE 'UTC')::date)
  ORDER BY account_id LIMIT $3`

/** An account that cannot be told, for which the database needs too long, keeps no other one waiting. */
async function tellOrSkip(options: TellOptions, transaction: Queryable, watcher: Watcher): Promise<boolean> {
  await transaction.query('SAVEPOINT before_account')
  try {
    return await tellOne(options, transaction, watcher)
  } catch (error) {
    await transaction.query('ROLLBACK TO SAVEPOINT before_account')
    options.logger.warn(
      { err: error, accountId: watcher.account_id },
      'an account could not be told of an unusual day',
    )
    return false
  }
}

async function tellOne(
  { nowMs, describe, queueWebhooks }: TellOptions,
  transaction: Queryable,
  { account_id: accountId }: Watcher,
): Promise<boolean> {
  const compared = await readComparison(transaction, { accountId, ownKeyId: null, projectId: null }, nowMs)
  const { anomaly, range } = compared
  if (anomaly === null) return false
  const id = createId(nowMs)
  const stored = await transaction.query(
    `INSERT INTO usage_anomalies (id, account_id, day, cause, content, created_at) VALUES ($1, $2, $3::date, $4, $5::jsonb, $6)
     ON CONFLICT (account_id, day, cause) DO NOTHING RETURNING id`,
    [
      id,
      accountId,
      new Date(range.fromMs).toISOString().slice(0, 'YYYY-MM-DD'.length),
      causeOf(anomaly),
      JSON.stringify(describe(compared)),
      new Date(nowMs),
    ],
  )
  if (stored.length === 0) return false
  await queueWebhooks(transaction, { accountId, usageAnomalyId: id })
  return true
}

function causeOf({ causes }: SpendingAnomaly): string {
  const first = (['key', 'model'] as const).map(
    (dimension) => causes.find((cause) => cause.dimension === dimension)?.id ?? '',
  )
  return first.join('|')
}

export async function readToldAnomaly(
  queryable: Queryable,
  accountId: string,
  id: string,
): Promise<ToldAnomaly> {
  const [row] = await queryable.query<{ content: object; created_at: Date }>(
    'SELECT content, created_at FROM usage_anomalies WHERE id = $1 AND account_id = $2',
    [id, accountId],
  )
  if (row === undefined) throw notFound('usage anomaly')
  return { id, createdAtMs: row.created_at.getTime(), content: row.content }
}
