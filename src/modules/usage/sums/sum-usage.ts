import type { Database } from '../../../storage/database.ts'
import { DAY_MS, floorDay, HOUR_MS } from '../usage-range.ts'
import { sumNextDay, sumStaleDay } from './sum-day.ts'
import { waitForWriters } from '../../../storage/wait-for-writers.ts'

/** Most charges of a day are recorded within an hour of its end. Later ones make the day stale. */
const DAY_ENDS_AFTER_MS = HOUR_MS
/** Accounts get sums once they have so many rollups in some days. A report of a month reads fewer of them without sums. */
const ROLLUPS_MIN = 2_000
const ROLLUPS_DAYS = 7
/** Of one call. The next one goes on. */
const DAYS_MAX = 2_000

interface SumOptions {
  readonly database: Database
  /** Days before this time are added up. */
  readonly untilMs: number
  /** Whether to look for accounts that have no sums yet, which reads a little of each account. */
  readonly isForNewAccounts: boolean
  readonly isStopped: () => boolean
  readonly rollupsMin?: number
}

/**
 * Adds up the days that have ended, and again those whose usage changed since. Any process may do it at any time, also several, and may
 * be killed. First it makes known which days it will sum: from then on each change of them is noted (`note_stale_days`). Then it waits
 * for those who began to write before that, so that it sees what they wrote.
 */
export async function sumUsage(options: SumOptions): Promise<void> {
  const { database, untilMs, isForNewAccounts, isStopped, rollupsMin = ROLLUPS_MIN } = options
  const until = new Date(untilMs)
  if (isForNewAccounts)
    await database.query(ADD_ACCOUNTS, [new Date(untilMs - ROLLUPS_DAYS * DAY_MS), until, rollupsMin])
  await database.query(WATCH, [until])
  const accounts = await database.query<{ account_id: string; stale: Date[] }>(UNSUMMED, [until])
  if (accounts.length === 0 || !(await waitForWriters(database, ['usage_rollups', 'usage_by_label']))) return
  let days = 0
  const goesOn = (): boolean => !isStopped() && days++ < DAYS_MAX
  for (const { account_id: accountId, stale } of accounts) {
    for (const day of stale) if (goesOn()) await sumStaleDay(database, accountId, day.getTime())
    while (goesOn() && (await sumNextDay(database, accountId, untilMs)));
  }
}

/** Returns until when days are added up at this time. */
export function endOfSummedDays(nowMs: number): number {
  return floorDay(nowMs - DAY_ENDS_AFTER_MS)
}

/** From the beginning of time, because somebody may write an earlier day at this moment. */
const ADD_ACCOUNTS = `
  INSERT INTO usage_sum_progress (account_id, summed_until, watched_until)
  SELECT id, '1970-01-01', ($2::timestamptz AT TIME ZONE 'UTC')::date
  FROM accounts
  WHERE NOT EXISTS (SELECT FROM usage_sum_progress WHERE account_id = id)
    AND (SELECT count(*) FROM (
      SELECT FROM usage_rollups WHERE account_id = id AND hour >= $1::timestamptz AND hour < $2::timestamptz LIMIT $3
    ) AS found) = $3
  ON CONFLICT DO NOTHING`

const WATCH = `UPDATE usage_sum_progress SET watched_until = ($1::timestamptz AT TIME ZONE 'UTC')::date
  WHERE watched_until < ($1::timestamptz AT TIME ZONE 'UTC')::date`

/** Days that are stale but not summed yet are summed in their turn. */
const UNSUMMED = `
  SELECT account_id, ARRAY(
    SELECT DISTINCT day::timestamp AT TIME ZONE 'UTC' FROM usage_stale_days stale
    WHERE stale.account_id = progress.account_id AND day < summed_until
  ) AS stale
  FROM usage_sum_progress progress
  WHERE summed_until < ($1::timestamptz AT TIME ZONE 'UTC')::date
    OR EXISTS (SELECT FROM usage_stale_days stale WHERE stale.account_id = progress.account_id AND day < summed_until)`
