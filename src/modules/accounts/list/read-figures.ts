import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** How many days of UTC figures are of: the current one and those before it. */
const FIGURE_DAYS = 30
const DAY_MS = 86_400_000

/** What an account did in the last days, beside the same number of days before. */
export interface AccountFigures {
  readonly spentNanoUsd: NanoUsd
  readonly spentBeforeNanoUsd: NanoUsd
  /** Requests that failed, also those that were not charged. */
  readonly failedRequests: number
}

export const NO_FIGURES: AccountFigures = { spentNanoUsd: 0n, spentBeforeNanoUsd: 0n, failedRequests: 0 }

/** The first day of the figures, and of the days before. */
export function figureDays(nowMs: number): { readonly first: string; readonly firstBefore: string } {
  const dayOf = (daysAgo: number): string =>
    new Date(nowMs - daysAgo * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return { first: dayOf(FIGURE_DAYS - 1), firstBefore: dayOf(2 * FIGURE_DAYS - 1) }
}

/** Returns the figures of some accounts. Reads only the rows of these accounts and days. */
export async function readFigures(
  queryable: Queryable,
  accountIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, AccountFigures>> {
  const { first, firstBefore } = figureDays(nowMs)
  const rows = await queryable.query<{ id: string; spent: bigint; before: bigint; failed: bigint }>(
    `SELECT id, spent, before, failed FROM unnest($1::uuid[]) AS listed (id)
     CROSS JOIN LATERAL (${spentOf('id', '$2::date', '$3::date')}) AS spending
     CROSS JOIN LATERAL (${failedOf('id', '$2::date')}) AS failures`,
    [accountIds, first, firstBefore],
  )
  return new Map(
    rows.map(({ id, spent, before, failed }) => [
      id,
      { spentNanoUsd: spent, spentBeforeNanoUsd: before, failedRequests: Number(failed) },
    ]),
  )
}

/** SQL for what an account spent since a day, and from an earlier day until then. */
export function spentOf(account: string, first: string, firstBefore: string): string {
  return `SELECT coalesce(sum(spent_nano_usd) FILTER (WHERE day >= ${first}), 0)::bigint AS spent,
      coalesce(sum(spent_nano_usd) FILTER (WHERE day < ${first}), 0)::bigint AS before
    FROM spend_by_day WHERE account_id = ${account} AND day >= ${firstBefore}`
}

/** SQL for the requests of an account that failed since a day. */
export function failedOf(account: string, first: string): string {
  return `SELECT coalesce(sum(requests), 0)::bigint AS failed FROM request_errors
    WHERE account_id = ${account} AND hour >= ${first}::timestamp AT TIME ZONE 'UTC' AND outcome = 'failed'`
}
