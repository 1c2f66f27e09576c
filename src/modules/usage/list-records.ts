import type { NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { IS_BATCH, PRICE_VERSION } from '../ledger/ledger.ts'
import { filterConditions, type UsageFilter } from './select-usage.ts'
import { findSpan } from './find-span.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import { HOUR_MS, type UsageRange } from './usage-range.ts'

export const OUTCOMES = ['completed', 'disconnected', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

export interface RecordsQuery extends Reader {
  readonly range: UsageRange
  readonly filter: UsageFilter
  readonly outcome: Outcome | null
  readonly page: PageRequest
}

/** One request. */
export interface UsageRecord {
  readonly id: string
  readonly keyId: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: string
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly costNanoUsd: NanoUsd
  readonly promotionalNanoUsd: NanoUsd
  /** The part of the cost that exceeded the account's credit. */
  readonly uncoveredNanoUsd: NanoUsd
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  /** When the request began. */
  readonly createdAtMs: number
  /** The price list by which it was charged. Null: that of the release that charged it. */
  readonly priceVersion: string | null
  /** Whether it was a line of a batch. */
  readonly isBatch: boolean
  /** Its tags and the groups of its caller. */
  readonly labels: readonly string[]
}

interface RecordRow {
  readonly id: string
  readonly key_id: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: string
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly reasoning_tokens: bigint
  readonly cost_nano_usd: bigint
  readonly promotional_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly latency_ms: number
  readonly first_token_ms: number | null
  readonly created_at: Date
  readonly labels: string[] | null
  readonly price_version: string | null
  readonly is_batch: boolean
}

const RECORD_COLUMNS = `id, key_id, environment, operation, model, provider, outcome, prompt_tokens, cached_tokens,
  cache_write_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd, uncovered_nano_usd, latency_ms, first_token_ms,
  created_at, labels, ${PRICE_VERSION} AS price_version, ${IS_BATCH} AS is_batch`

/** An id may be older than its record: for a repeated request, or for a cell that waited in a queue. */
export const ID_AGE_MS_MAX = 25 * HOUR_MS

/** Returns records, newest first. */
export async function listRecords(queryable: Queryable, query: RecordsQuery): Promise<Page<UsageRecord>> {
  const { limit, afterId } = query.page
  const found = await findSpan(queryable, query)
  if (found === null) return { items: [], total: 0, hasMore: false }

  const beforeId = firstOf(afterId ?? ID_AFTER_ALL, firstIdAt(found.span.toMs))
  const { conditions, values } = matchRecords(query, found.span, beforeId)
  const [rows, total] = await Promise.all([
    // Reads one row more than requested to detect further pages.
    queryable.query<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM usage_records WHERE ${conditions} ORDER BY id DESC LIMIT $${values.length + 1}`,
      [...values, limit + 1],
    ),
    countOf(queryable, query, found),
  ])
  return { items: rows.slice(0, limit).map(recordFromRow), total, hasMore: rows.length > limit }
}

/** Counts what did not complete, which is little and has an index. The total of all comes from sums. */
async function countOf(
  queryable: Queryable,
  query: RecordsQuery,
  { span, total }: { span: UsageRange; total: number },
): Promise<number> {
  if (query.outcome === null) return total
  if (query.outcome !== 'completed') return countRecords(queryable, query, span)
  let others = 0
  for (const outcome of OUTCOMES)
    if (outcome !== 'completed') others += await countRecords(queryable, { ...query, outcome }, span)
  return Math.max(0, total - others)
}

async function countRecords(queryable: Queryable, query: RecordsQuery, span: UsageRange): Promise<number> {
  const { conditions, values } = matchRecords(query, span, firstIdAt(span.toMs))
  const [row] = await queryable.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM usage_records WHERE ${conditions}`,
    values,
  )
  return Number(row?.total ?? 0)
}

/** Constants instead of parameters, so that every plan can use the index of what did not complete. */
const OUTCOME_CONDITIONS: Readonly<Record<Outcome | 'any', string>> = {
  any: '',
  completed: `AND outcome = 'completed'`,
  disconnected: `AND outcome = 'disconnected' AND outcome <> 'completed'`,
  failed: `AND outcome = 'failed' AND outcome <> 'completed'`,
}

function matchRecords(
  { filter, outcome, ...reader }: RecordsQuery,
  { fromMs, toMs }: UsageRange,
  beforeId: string,
): { conditions: string; values: readonly unknown[] } {
  const firstId = firstIdAt(Math.max(0, fromMs - ID_AGE_MS_MAX))
  const values: unknown[] = [reader.accountId, firstId, beforeId, new Date(fromMs), new Date(toMs)]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const narrowed = filterConditions(filter, reader, bind, '$1::uuid')
  const labelled = filter.label === undefined ? '' : ` AND labels @> ARRAY[${bind(filter.label)}::text]`
  const conditions = `account_id = $1 AND id >= $2 AND id < $3 AND created_at >= $4 AND created_at < $5${narrowed}${labelled} ${OUTCOME_CONDITIONS[outcome ?? 'any']}`
  return { conditions, values }
}

// As text, ids sort like in the database: digits and lower case.
function firstOf(a: string, b: string): string {
  return a.toLowerCase() < b ? a : b
}

function recordFromRow(row: RecordRow): UsageRecord {
  return {
    id: row.id,
    keyId: row.key_id,
    environment: row.environment,
    operation: row.operation,
    model: row.model,
    provider: row.provider,
    outcome: row.outcome,
    promptTokens: Number(row.prompt_tokens),
    cachedTokens: Number(row.cached_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    completionTokens: Number(row.completion_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    costNanoUsd: row.cost_nano_usd,
    promotionalNanoUsd: row.promotional_nano_usd,
    uncoveredNanoUsd: row.uncovered_nano_usd,
    latencyMs: row.latency_ms,
    firstTokenMs: row.first_token_ms,
    createdAtMs: row.created_at.getTime(),
    priceVersion: row.price_version,
    isBatch: row.is_batch,
    labels: row.labels ?? [],
  }
}
