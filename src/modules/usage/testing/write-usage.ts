import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'

export interface SampleRequest {
  readonly accountId: string
  /** When it began, RFC 3339. */
  readonly at: string
  /** When its id was created, if earlier. */
  readonly namedAt?: string
  readonly keyId?: string
  readonly environment?: string
  readonly operation?: string
  readonly model?: string
  readonly provider?: string
  readonly outcome?: 'completed' | 'disconnected' | 'failed'
  readonly promptTokens?: number
  readonly cachedTokens?: number
  readonly cacheWriteTokens?: number
  readonly completionTokens?: number
  readonly reasoningTokens?: number
  readonly costNanoUsd?: bigint
  readonly promotionalNanoUsd?: bigint
  readonly uncoveredNanoUsd?: bigint
  readonly latencyMs?: number
  readonly firstTokenMs?: number | null
  /** The process that wrote it. */
  readonly writer?: number
}

export const SAMPLE_KEY_ID = '01890000-0000-7000-8000-00000000000a'

/** Writes requests like a group commit does, at times that a test chooses. Returns their ids. */
export async function writeUsage(
  queryable: Queryable,
  requests: readonly SampleRequest[],
): Promise<string[]> {
  const ids: string[] = []
  for (const request of requests) {
    const id = createId(Date.parse(request.namedAt ?? request.at))
    ids.push(id)
    await queryable.query(WRITE, [
      request.accountId,
      id,
      request.keyId ?? SAMPLE_KEY_ID,
      request.environment ?? 'dev',
      request.operation ?? 'chat',
      request.model ?? 'gpt-5.4',
      request.provider ?? 'openai',
      request.outcome ?? 'completed',
      request.promptTokens ?? 10,
      request.cachedTokens ?? 0,
      request.completionTokens ?? 5,
      request.reasoningTokens ?? 0,
      request.costNanoUsd ?? 1000n,
      request.promotionalNanoUsd ?? 0n,
      request.latencyMs ?? 100,
      request.firstTokenMs ?? null,
      request.at,
      request.writer ?? 1,
      request.uncoveredNanoUsd ?? 0n,
      request.cacheWriteTokens ?? 0,
    ])
  }
  return ids
}

const SUMS = [
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  'promotional_nano_usd',
]

const WRITE = `
  WITH charged AS (
    INSERT INTO usage_records (account_id, id, key_id, environment, operation, model, provider, outcome, prompt_tokens,
      cached_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, latency_ms, first_token_ms,
      created_at, uncovered_nano_usd, cache_write_tokens)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $19, $20)
    RETURNING *
  ), rolled_up AS (
    INSERT INTO usage_rollups (account_id, hour, key_id, model, provider, operation, environment, writer, requests,
      ${SUMS.join(', ')})
    SELECT account_id, date_trunc('hour', created_at, 'UTC'), key_id, model, provider, operation, environment, $18, 1,
      ${SUMS.join(', ')} FROM charged
    ON CONFLICT (account_id, hour, key_id, model, provider, operation, writer) DO UPDATE SET
      ${['requests', ...SUMS].map((column) => `${column} = usage_rollups.${column} + excluded.${column}`).join(', ')}
  )
  INSERT INTO spend_by_day (account_id, day, key_id, writer, spent_nano_usd)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, key_id, $18, cost_nano_usd FROM charged
  ON CONFLICT (account_id, day, key_id, writer) DO UPDATE SET
    spent_nano_usd = spend_by_day.spent_nano_usd + excluded.spent_nano_usd`
