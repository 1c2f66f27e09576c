import { firstIdAt } from '../../kernel/identifiers.ts'
import type { Logger } from '../../kernel/logger.ts'
import { ID_BEFORE_ALL } from '../../kernel/page.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { DAY_MS, dayOf, makeReceipt } from './make-receipt.ts'
import { findSigningKey } from './signing-key.ts'

const HOUR_MS = 3_600_000
/** When a day is looked at, from its end on: records come late after long work, or after the database was away. */
const LOOKS_AFTER_MS: readonly number[] = [3, 27, 99, 195, 771].map((hours) => hours * HOUR_MS)
/** After so many looks a day gets no further receipts. */
export const LOOKS_MAX = LOOKS_AFTER_MS.length
const ACCOUNTS_AT_ONCE = 200
const DAYS_AT_ONCE = 64

export interface DueReceipts {
  readonly database: Database
  readonly sealer: Sealer
  readonly logger: Logger
  readonly nowMs: number
  readonly rest: (workedMs: number) => Promise<void>
}

/** Makes the receipts that are due. Returns how many. Any process may do it at any time, and may be killed. */
export async function makeDueReceipts(options: DueReceipts): Promise<number> {
  const { database, nowMs } = options
  await noteDays(database, nowMs)
  const days = await database.query<{ day: Date; looks: number }>(
    `SELECT day::timestamp AT TIME ZONE 'UTC' AS day, looks FROM receipt_days WHERE looks < $1 ORDER BY day LIMIT $2`,
    [LOOKS_MAX, DAYS_AT_ONCE],
  )
  let made = 0
  for (const { day, looks } of days) {
    const dayMs = day.getTime()
    const due = LOOKS_AFTER_MS.filter((afterMs) => dayMs + DAY_MS + afterMs <= nowMs).length
    if (due <= looks) continue
    made += await lookAtDay(options, dayMs)
    await database.query('UPDATE receipt_days SET looks = $2, looked_at = $3 WHERE day = $1::date', [
      dayOf(dayMs),
      due,
      new Date(nowMs),
    ])
  }
  return made
}

/** Every day that has ended, from the one before the first start on. What was done in a wrong future is done again. */
async function noteDays(database: Database, nowMs: number): Promise<void> {
  const yesterday = dayOf(nowMs - DAY_MS)
  await database.query('DELETE FROM receipt_days WHERE day > $1::date', [yesterday])
  await database.query('UPDATE receipt_days SET looks = 0, looked_at = $1 WHERE looked_at > $2', [
    new Date(nowMs),
    new Date(nowMs + HOUR_MS),
  ])
  await database.query(
    `INSERT INTO receipt_days (day, looked_at)
     SELECT day::date, $2
     FROM generate_series(coalesce((SELECT max(day) + 1 FROM receipt_days), $1::date)::timestamp, $1::timestamp, interval '1 day') AS day
     ON CONFLICT DO NOTHING`,
    [yesterday, new Date(nowMs)],
  )
}

/** Makes a receipt for each account that has records of the day without one. */
async function lookAtDay(options: DueReceipts, dayMs: number): Promise<number> {
  const { database, sealer, logger, nowMs, rest } = options
  let made = 0
  let afterId = ID_BEFORE_ALL
  for (;;) {
    const startedMs = performance.now()
    const accounts = await countRecords(database, dayMs, afterId)
    await rest(performance.now() - startedMs)
    for (const { id, records, receipted } of accounts) {
      if (records < receipted)
        logger.error(
          { account: id, day: dayOf(dayMs), records, receipted },
          'records of which there are receipts are missing',
        )
      if (records <= receipted) continue
      const key = await findSigningKey(database, sealer, nowMs)
      const count = await makeReceipt({ database, accountId: id, dayMs, key, nowMs, rest })
      if (count > 0) made += 1
    }
    const last = accounts.at(-1)
    if (last === undefined || accounts.length < ACCOUNTS_AT_ONCE) return made
    afterId = last.id
  }
}

interface CountedAccount {
  readonly id: string
  readonly records: number
  readonly receipted: number
}

function countRecords(queryable: Queryable, dayMs: number, afterId: string): Promise<CountedAccount[]> {
  return queryable.query<CountedAccount>(
    `SELECT account.id,
       (SELECT count(*) FROM usage_records WHERE account_id = account.id AND usage_records.id >= $2 AND usage_records.id < $3)::float8 AS records,
       (SELECT coalesce(sum(receipts.records), 0) FROM receipts
        WHERE account_id = account.id AND day = $4::date AND statement IS NOT NULL)::float8 AS receipted
     FROM (SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $5) AS account ORDER BY account.id`,
    [afterId, firstIdAt(dayMs), firstIdAt(dayMs + DAY_MS), dayOf(dayMs), ACCOUNTS_AT_ONCE],
  )
}
