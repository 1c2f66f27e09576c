import type { Database, Queryable } from '../../../storage/database.ts'
import { DAY_MS, floorDay } from '../usage-range.ts'
import { COUNT_COLUMNS } from '../usage-totals.ts'
import { GRAINS, type Grain } from './grains.ts'

/**
 * Adds up the next day of the account that has usage and no sums, before `untilMs`. Returns whether there may be further days.
 */
export function sumNextDay(database: Database, accountId: string, untilMs: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const summedUntilMs = await lockProgress(transaction, accountId)
    if (summedUntilMs === null || summedUntilMs >= untilMs) return false
    const [next] = await transaction.query<{ hour: Date | null }>(
      'SELECT min(hour) AS hour FROM usage_rollups WHERE account_id = $1 AND hour >= $2 AND hour < $3',
      [accountId, new Date(summedUntilMs), new Date(untilMs)],
    )
    const dayMs = next?.hour ? floorDay(next.hour.getTime()) : null
    if (dayMs !== null) await sumDay(transaction, accountId, dayMs)
    const reachedMs = dayMs === null ? untilMs : dayMs + DAY_MS
    await transaction.query('UPDATE usage_sum_progress SET summed_until = $2::date WHERE account_id = $1', [
      accountId,
      dateOf(reachedMs),
    ])
    return reachedMs < untilMs
  })
}

/** Adds up a day again whose usage changed. */
export function sumStaleDay(database: Database, accountId: string, dayMs: number): Promise<void> {
  return database.transaction(async (transaction) => {
    const summedUntilMs = await lockProgress(transaction, accountId)
    if (summedUntilMs !== null && dayMs < summedUntilMs) await sumDay(transaction, accountId, dayMs)
  })
}

/** Waits for another process that adds up the same account. */
async function lockProgress(transaction: Queryable, accountId: string): Promise<number | null> {
  const [progress] = await transaction.query<{ summed_until: Date }>(
    `SELECT summed_until::timestamp AT TIME ZONE 'UTC' AS summed_until FROM usage_sum_progress WHERE account_id = $1 FOR UPDATE`,
    [accountId],
  )
  return progress?.summed_until.getTime() ?? null
}

async function sumDay(transaction: Queryable, accountId: string, dayMs: number): Promise<void> {
  // First, so that what is written from now on makes the day stale again.
  await transaction.query('DELETE FROM usage_stale_days WHERE account_id = $1 AND day = $2::date', [
    accountId,
    dateOf(dayMs),
  ])
  const day = [accountId, new Date(dayMs), new Date(dayMs + DAY_MS)]
  await transaction.query(DELETE_SUMS, [...day, GRAINS.map(({ name }) => name)])
  for (const grain of GRAINS) await transaction.query(sumStatement(grain), day)
}

function dateOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Names the grains, so that the index finds the rows. */
const DELETE_SUMS = `DELETE FROM usage_sums
  WHERE account_id = $1 AND begins >= $2 AND begins < $3 AND grain = ANY ($4::text[])`

function sumStatement({ name, isOfHours, isOfLabels, columns }: Grain): string {
  const by = [...(isOfHours ? ['hour'] : []), ...(isOfLabels ? ['label'] : []), ...columns]
  return `INSERT INTO usage_sums (account_id, grain, begins, ${isOfLabels ? 'label, ' : ''}${columns.join(', ')}, ${COUNT_COLUMNS.join(', ')})
    SELECT $1::uuid, '${name}', ${isOfHours ? 'hour' : '$2::timestamptz'}, ${isOfLabels ? 'label, ' : ''}${columns.join(', ')},
      ${COUNT_COLUMNS.map((column) => `sum(${column})::bigint`).join(', ')}
    FROM ${isOfLabels ? 'usage_by_label' : 'usage_rollups'}
    WHERE account_id = $1::uuid AND hour >= $2::timestamptz AND hour < $3::timestamptz GROUP BY ${by.join(', ')}`
}
