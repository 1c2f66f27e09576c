import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** What was charged automatically, and what is being charged. What was refunded counts too. */
export interface RecentTopUps {
  /** In the month of UTC. */
  readonly monthNanoUsd: NanoUsd
  /** Charges in the last 24 hours, with those that failed. */
  readonly dayCount: number
  readonly isBeingCharged: boolean
}

/** Call it with the row of the automatic top-up locked to decide about a charge. */
export async function readRecentTopUps(
  queryable: Queryable,
  accountId: string,
  nowMs: number,
): Promise<RecentTopUps> {
  const month = new Date(monthStartMs(nowMs))
  const day = new Date(nowMs - DAY_MS)
  const [row] = await queryable.query<{ month: bigint; day: bigint; is_open: boolean | null }>(
    `SELECT coalesce(sum(amount_nano_usd) FILTER (
         WHERE created_at >= $2 AND status NOT IN ('failed', 'expired', 'cancelled')), 0)::bigint AS month,
       count(*) FILTER (WHERE created_at > $3) AS day, bool_or(status IN ('pending', 'processing')) AS is_open
     FROM payments WHERE account_id = $1 AND kind = 'auto_top_up'
       AND (created_at >= least($2::timestamptz, $3::timestamptz) OR status IN ('pending', 'processing'))`,
    [accountId, month, day],
  )
  return {
    monthNanoUsd: row?.month ?? 0n,
    dayCount: Number(row?.day ?? 0),
    isBeingCharged: row?.is_open ?? false,
  }
}

const DAY_MS = 86_400_000

export function monthStartMs(nowMs: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
}

export function nextMonthMs(nowMs: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
}
