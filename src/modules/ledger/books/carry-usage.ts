/** SQL: all token counts in one sum, used only for comparison. */
export const TOKENS =
  'prompt_tokens::numeric + cached_tokens + cache_write_tokens + completion_tokens + reasoning_tokens'

/** SQL: keeps the sums of usage records that are dropped, so that the books can still be compared with the requests. */
export function carryUsage({ name, untilMs }: { name: string; untilMs: number }): string {
  return `
    INSERT INTO usage_carried (account_id, partition, until, requests, tokens, cost_nano_usd)
    SELECT account_id, '${name}', to_timestamp(${untilMs / 1000}), count(*), sum(${TOKENS}), sum(cost_nano_usd)
    FROM ${name} GROUP BY account_id
    -- A restored database has a first partition again.
    ON CONFLICT (account_id, partition) DO UPDATE SET until = greatest(usage_carried.until, excluded.until),
      requests = usage_carried.requests + excluded.requests, tokens = usage_carried.tokens + excluded.tokens,
      cost_nano_usd = usage_carried.cost_nano_usd + excluded.cost_nano_usd`
}
