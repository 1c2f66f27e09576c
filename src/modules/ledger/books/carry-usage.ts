import type { Queryable } from '../../../storage/database.ts'

/** SQL: all token counts in one sum, used only for comparison. */
export const TOKENS =
  'prompt_tokens::numeric + cached_tokens + cache_write_tokens + completion_tokens + reasoning_tokens'

interface DroppedUsage {
  /** The partition. */
  readonly name: string
  /** SQL: its rows, as a FROM item. */
  readonly rows: string
  readonly untilMs: number
}

/** SQL: keeps the sums of usage records that are dropped, so that the books can still be compared with the requests. */
export function carryUsage(
  { name, rows, untilMs }: DroppedUsage,
  { isArchived }: { readonly isArchived: boolean },
): string {
  const archived = isArchived ? 'count(*), sum(cost_nano_usd)' : '0, 0'
  return `
    INSERT INTO usage_carried (account_id, partition, until, requests, tokens, cost_nano_usd, archived_requests, archived_nano_usd)
    SELECT account_id, '${name}', to_timestamp(${untilMs / 1000}), count(*), sum(${TOKENS}), sum(cost_nano_usd), ${archived}
    FROM ${rows} GROUP BY account_id
    -- A restored database has a first partition again.
    ON CONFLICT (account_id, partition) DO UPDATE SET until = greatest(usage_carried.until, excluded.until),
      requests = usage_carried.requests + excluded.requests, tokens = usage_carried.tokens + excluded.tokens,
      cost_nano_usd = usage_carried.cost_nano_usd + excluded.cost_nano_usd,
      archived_requests = usage_carried.archived_requests + excluded.archived_requests,
      archived_nano_usd = usage_carried.archived_nano_usd + excluded.archived_nano_usd`
}

/** Counts the requests of archives as dropped and archived. Their own sums were carried as those of requests that are in no archive. */
export async function carryArchives(transaction: Queryable, archiveIds: readonly string[]): Promise<void> {
  if (archiveIds.length === 0) return
  await transaction.query(CARRY_ARCHIVES, [archiveIds])
}

const CARRY_ARCHIVES = `
  INSERT INTO usage_carried (account_id, partition, until, requests, tokens, cost_nano_usd, archived_requests, archived_nano_usd)
  SELECT account_id, 'archive ' || archive_id, (month + interval '1 month') AT TIME ZONE 'UTC', 0, 0, 0, archived_sums.rows, amount_nano_usd
  FROM archived_sums JOIN archives ON archives.id = archive_id WHERE archive_id = ANY ($1::uuid[])`
