import { isRecord } from '../../../kernel/is-record.ts'
import type { Queryable } from '../../../storage/database.ts'
import { RECENT_DAYS } from '../models/read-models.ts'
import type { AdjustmentScope, OfferedAdjustment } from './offered-adjustment.ts'

/** As JSON, so that one statement reads one state of all tables. */
export interface AdjustmentJson {
  readonly version: string
  readonly account_id: string | null
  readonly project_id: string | null
  readonly model: string | null
  readonly given: unknown
  readonly terms: unknown
  readonly from_ms: number
  readonly until_ms: number | null
  readonly author_key_id: string | null
  readonly reason: string | null
  readonly created_ms: number
  readonly withdrawn_ms: number | null
}

const milliseconds = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)`

const AS_JSON = `jsonb_build_object(
  'version', a.version::text, 'account_id', account_id, 'project_id', project_id, 'model', model, 'given', given,
  'terms', terms, 'from_ms', ${milliseconds('effective_from')}, 'until_ms', ${milliseconds('effective_until')},
  'author_key_id', author_key_id, 'reason', reason, 'created_ms', ${milliseconds('created_at')},
  'withdrawn_ms', ${milliseconds('withdrawn_at')})`

/** What can still apply: those that have not ended for long, and those of the future. */
export const ADJUSTMENTS_AS_JSON = `(
  SELECT jsonb_agg(${AS_JSON} ORDER BY a.version)
  FROM price_adjustments a WHERE withdrawn_at IS NULL
    AND (effective_until IS NULL OR effective_until > now() - interval '${RECENT_DAYS} days'))`

export interface AdjustmentFilter extends Partial<AdjustmentScope> {
  /** The page continues below this version. */
  readonly beforeVersion: bigint | null
  readonly limit: number
}

export interface AdjustmentPage {
  readonly items: readonly OfferedAdjustment[]
  readonly total: number
  readonly hasMore: boolean
}

/** All that ever were, the latest first. */
export async function listAdjustments(
  queryable: Queryable,
  { accountId, projectId, model, beforeVersion, limit }: AdjustmentFilter,
): Promise<AdjustmentPage> {
  const values: unknown[] = []
  const conditions = (
    [
      ['account_id', accountId],
      ['project_id', projectId],
      ['model', model],
    ] as const
  ).flatMap(([column, wanted]) => (wanted ? [`${column} = $${values.push(wanted)}`] : []))
  const matches = ['true', ...conditions].join(' AND ')
  const [count] = await queryable.query<{ total: bigint }>(
    `SELECT count(*) AS total FROM price_adjustments WHERE ${matches}`,
    values,
  )
  const rows = await queryable.query<{ adjustment: AdjustmentJson }>(
    `SELECT ${AS_JSON} AS adjustment FROM price_adjustments a
     WHERE ${matches} AND ($${values.length + 1}::bigint IS NULL OR version < $${values.length + 1}::bigint)
     ORDER BY version DESC LIMIT $${values.length + 2}`,
    [...values, beforeVersion, limit + 1],
  )
  return {
    items: rows.slice(0, limit).map(({ adjustment }) => toAdjustment(adjustment)),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

export async function readAdjustment(
  queryable: Queryable,
  version: bigint,
): Promise<OfferedAdjustment | undefined> {
  const [row] = await queryable.query<{ adjustment: AdjustmentJson }>(
    `SELECT ${AS_JSON} AS adjustment FROM price_adjustments a WHERE version = $1`,
    [version],
  )
  return row && toAdjustment(row.adjustment)
}

export function toAdjustment(row: AdjustmentJson): OfferedAdjustment {
  return {
    version: BigInt(row.version),
    accountId: row.account_id,
    projectId: row.project_id,
    model: row.model,
    given: isRecord(row.given) ? row.given : {},
    terms: row.terms,
    effectiveFromMs: row.from_ms,
    effectiveUntilMs: row.until_ms,
    authorKeyId: row.author_key_id,
    reason: row.reason,
    createdAtMs: row.created_ms,
    withdrawnAtMs: row.withdrawn_ms,
  }
}
