import type { Queryable } from '../../../storage/database.ts'
import type { UsageRange } from '../../usage/usage.ts'

/** Which errors operators look for. Null or absent filters nothing. */
export interface ErrorsQuery {
  readonly range: UsageRange
  readonly accountId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly outcome: string | null
  /** A part of the code or message, also of the upstream's. */
  readonly text: string | null
  readonly limit: number
}

/** Equal errors at one provider. */
export interface ErrorGroup {
  readonly errorKey: string
  /** Empty if no upstream was called. */
  readonly provider: string
  readonly outcome: string
  readonly httpStatus: number
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly upstreamStatus: number | null
  readonly upstreamCode: string | null
  readonly upstreamMessage: string | null
  readonly requests: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** The last request. */
  readonly lastId: string
  readonly accounts: number
  readonly models: readonly string[]
  /** Those with the most requests. */
  readonly topAccounts: readonly { readonly id: string; readonly name: string; readonly requests: number }[]
}

export interface ErrorGroups {
  readonly groups: readonly ErrorGroup[]
  readonly requests: number
  /** Whether there are more groups than were asked for. */
  readonly hasMore: boolean
}

interface GroupRow {
  readonly error_key: string
  readonly provider: string
  readonly outcome: string
  readonly http_status: number
  readonly error_code: string
  readonly error_message: string | null
  readonly upstream_status: number | null
  readonly upstream_code: string | null
  readonly upstream_message: string | null
  readonly requests: bigint
  readonly all_requests: bigint
  readonly first_at: Date
  readonly last_at: Date
  readonly last_id: string
  readonly accounts: bigint
  readonly models: string[]
  readonly top_accounts: { id: string; name: string; requests: number }[]
}

/** Returns the errors of a range by what they have in common, the most frequent first. */
export async function listErrors(queryable: Queryable, query: ErrorsQuery): Promise<ErrorGroups> {
  const { range, limit } = query
  const rows = await queryable.query<GroupRow>(GROUPS, [
    new Date(range.fromMs),
    new Date(range.toMs),
    query.accountId,
    query.keyId,
    query.model,
    query.provider,
    query.outcome,
    query.text,
    limit + 1,
  ])
  return {
    groups: rows.slice(0, limit).map(groupFromRow),
    requests: Number(rows[0]?.all_requests ?? 0),
    hasMore: rows.length > limit,
  }
}

function groupFromRow(row: GroupRow): ErrorGroup {
  return {
    errorKey: row.error_key,
    provider: row.provider,
    outcome: row.outcome,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    upstreamStatus: row.upstream_status,
    upstreamCode: row.upstream_code,
    upstreamMessage: row.upstream_message,
    requests: Number(row.requests),
    firstAtMs: row.first_at.getTime(),
    lastAtMs: row.last_at.getTime(),
    lastId: row.last_id,
    accounts: Number(row.accounts),
    models: row.models.filter((model) => model !== ''),
    topAccounts: row.top_accounts,
  }
}

const MODELS_MAX = 5
const ACCOUNTS_MAX = 3
const MATCHING_TEXT = ['error_code', 'error_message', 'upstream_code', 'upstream_message']
  .map((column) => `strpos(lower(${column}), lower($8)) > 0`)
  .join(' OR ')

// Hours are whole: one that the range begins in counts if an error of it is within the range.
const GROUPS = `
  WITH found AS MATERIALIZED (
    SELECT * FROM request_errors
    WHERE hour >= date_trunc('hour', $1::timestamptz, 'UTC') AND hour < $2 AND last_at >= $1 AND first_at < $2
      AND ($3::uuid IS NULL OR account_id = $3) AND ($4::uuid IS NULL OR key_id = $4) AND ($5::text IS NULL OR model = $5)
      AND ($6::text IS NULL OR provider = $6) AND ($7::text IS NULL OR outcome = $7) AND ($8::text IS NULL OR ${MATCHING_TEXT})
  ), groups AS (
    SELECT provider, error_key, sum(requests)::bigint AS requests, min(first_at) AS first_at, max(last_at) AS last_at,
      count(DISTINCT account_id) AS accounts, (array_agg(DISTINCT model))[1:${MODELS_MAX}] AS models,
      sum(sum(requests)) OVER ()::bigint AS all_requests
    FROM found GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC LIMIT $9
  )
  SELECT groups.*, latest.outcome, latest.http_status, latest.error_code, latest.error_message, latest.upstream_status,
    latest.upstream_code, latest.upstream_message, latest.last_id, coalesce(busiest.list, '[]') AS top_accounts
  FROM groups
  CROSS JOIN LATERAL (
    SELECT * FROM found WHERE found.provider = groups.provider AND found.error_key = groups.error_key ORDER BY last_at DESC LIMIT 1
  ) AS latest
  CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('id', id, 'name', name, 'requests', requests) ORDER BY requests DESC) AS list FROM (
      SELECT accounts.id, accounts.name, sum(found.requests)::int AS requests
      FROM found JOIN accounts ON accounts.id = found.account_id
      WHERE found.provider = groups.provider AND found.error_key = groups.error_key
      GROUP BY 1, 2 ORDER BY 3 DESC LIMIT ${ACCOUNTS_MAX}
    ) AS named
  ) AS busiest
  ORDER BY groups.requests DESC, groups.last_at DESC`
