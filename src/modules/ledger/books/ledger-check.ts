import type { Queryable } from '../../../storage/database.ts'

/** How the ledger was when it was last checked. */
export interface LastLedgerCheck {
  readonly checkedAt: Date
  /** The number of broken rules. */
  readonly differences: number
}

/** Returns whether a check is due. It is then that of the caller: other processes are told that it is not. */
export async function claimLedgerCheck(queryable: Queryable, everyMs: number): Promise<boolean> {
  const rows = await queryable.query(CLAIM, [everyMs])
  return rows.length > 0
}

export async function noteLedgerCheck(queryable: Queryable, differences: number): Promise<void> {
  await queryable.query('UPDATE ledger_check SET checked_at = now(), differences = $1', [differences])
}

/** Notes that a check did not come to its end. If none ever did, the last one is at the beginning of time, so that somebody is told. */
export async function noteFailedCheck(queryable: Queryable): Promise<void> {
  await queryable.query(`UPDATE ledger_check SET checked_at = 'epoch' WHERE checked_at IS NULL`)
}

/** Returns null if it was never checked. */
export async function readLedgerCheck(queryable: Queryable): Promise<LastLedgerCheck | null> {
  const [row] = await queryable.query<{ checked_at: Date; differences: number }>(
    'SELECT checked_at, differences FROM ledger_check WHERE checked_at IS NOT NULL',
  )
  return row === undefined ? null : { checkedAt: row.checked_at, differences: row.differences }
}

const CLAIM = `
  INSERT INTO ledger_check (begun_at) VALUES (now()) ON CONFLICT (is_only) DO UPDATE SET begun_at = now()
  WHERE ledger_check.begun_at < now() - $1::float8 * interval '1 millisecond'
    OR (coalesce(ledger_check.checked_at, '-infinity') < ledger_check.begun_at
      -- Tables that are too large to be read in time are not read every hour.
      AND ledger_check.begun_at < now() - greatest(interval '1 hour', $1::float8 / 4 * interval '1 millisecond'))
  RETURNING 1`
