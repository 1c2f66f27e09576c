import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'

/** An account has spent a part of a budget. */
export interface BudgetAlert {
  readonly id: string
  readonly period: 'day' | 'month'
  /** The first day of the period, in UTC: `2026-11-01`. */
  readonly periodStart: string
  readonly thresholdPercent: number
  /** As they were when the alert was raised. */
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
  readonly createdAtMs: number
}

interface AlertRow {
  readonly id: string
  readonly period: BudgetAlert['period']
  readonly period_start: string
  readonly threshold_percent: number
  readonly limit_nano_usd: bigint
  readonly spent_nano_usd: bigint
  readonly created_at: Date
}

const COLUMNS = `id, period, period_start::text, threshold_percent, limit_nano_usd, spent_nano_usd, created_at`

export async function listAlerts(
  queryable: Queryable,
  accountId: string,
  { limit, afterId }: PageRequest,
): Promise<Page<BudgetAlert>> {
  const [rows, [count]] = await Promise.all([
    queryable.query<AlertRow>(
      `SELECT ${COLUMNS} FROM budget_alerts WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
      [accountId, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>('SELECT count(*) AS total FROM budget_alerts WHERE account_id = $1', [
      accountId,
    ]),
  ])
  return {
    items: rows.slice(0, limit).map(alertFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

export async function readAlert(
  queryable: Queryable,
  accountId: string,
  alertId: string,
): Promise<BudgetAlert> {
  if (!isUuid(alertId)) throw notFound('budget alert')
  const [row] = await queryable.query<AlertRow>(
    `SELECT ${COLUMNS} FROM budget_alerts WHERE id = $1 AND account_id = $2`,
    [alertId, accountId],
  )
  if (row === undefined) throw notFound('budget alert')
  return alertFromRow(row)
}

export type ReachedThresholds = Readonly<Record<BudgetAlert['period'], number | null>>

/** The highest threshold that has raised an alert in the present day and month; null for none. */
export async function readReached(
  queryable: Queryable,
  accountId: string,
  nowMs: number,
): Promise<ReachedThresholds> {
  const today = new Date(nowMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
  const rows = await queryable.query<{ period: BudgetAlert['period']; percent: number }>(
    `SELECT period, max(threshold_percent) AS percent FROM budget_alerts
     WHERE account_id = $1 AND period_start = date_trunc(period, $2::timestamp)::date GROUP BY period`,
    [accountId, today],
  )
  const of = (wanted: BudgetAlert['period']): number | null =>
    rows.find(({ period }) => period === wanted)?.percent ?? null
  return { day: of('day'), month: of('month') }
}

/** More than a year, so that months can be compared. */
const KEPT_DAYS = 400
const DELETED_AT_ONCE = 10_000

/** Deletes old alerts, with the deliveries of their webhooks. */
export async function sweepBudgetAlerts(queryable: Queryable): Promise<void> {
  await queryable.query(
    `DELETE FROM budget_alerts WHERE id IN (
       SELECT id FROM budget_alerts WHERE created_at < now() - $1 * interval '1 day' LIMIT $2)`,
    [KEPT_DAYS, DELETED_AT_ONCE],
  )
}

function alertFromRow(row: AlertRow): BudgetAlert {
  return {
    id: row.id,
    period: row.period,
    periodStart: row.period_start,
    thresholdPercent: row.threshold_percent,
    limitNanoUsd: row.limit_nano_usd,
    spentNanoUsd: row.spent_nano_usd,
    createdAtMs: row.created_at.getTime(),
  }
}
