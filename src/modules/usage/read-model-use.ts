import type { OpenPage } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { filterConditions } from './select-usage.ts'
import { floorHour, type UsageRange } from './usage-range.ts'
import { SUMS, totalsFromRow, type UsageTotals, type UsageTotalsRow } from './usage-totals.ts'

export interface ModelUseQuery {
  readonly models: readonly string[]
  readonly range: UsageRange
  /** Null: all accounts. */
  readonly reader: Reader | null
}

/** How much a model was used. */
export interface ModelUse {
  readonly totals: UsageTotals
  readonly accounts: number
  readonly keys: number
  /** The beginning of the last hour in which it was used. */
  readonly lastHourMs: number
}

/** How much a key used a model. */
export interface KeyUse {
  readonly model: string
  readonly account: { readonly id: string; readonly name: string }
  /** The name is null if there is no such key any more. */
  readonly key: { readonly id: string; readonly name: string | null; readonly isRevoked: boolean }
  readonly totals: UsageTotals
  readonly lastHourMs: number
}

export interface KeyUseQuery extends ModelUseQuery {
  /** Of each model, those with the most requests. */
  readonly limit: number
  /** The last one of the page before. Only with one model. */
  readonly after: KeyUseCursor | null
}

export interface KeyUseCursor {
  readonly requests: number
  readonly keyId: string
}

interface ModelRow extends UsageTotalsRow {
  readonly model: string
  readonly accounts: bigint
  readonly keys: bigint
  readonly last_hour: Date
}

interface KeyRow extends UsageTotalsRow {
  readonly model: string
  readonly account_id: string
  readonly account_name: string
  readonly key_id: string
  readonly key_name: string | null
  readonly is_revoked: boolean
  readonly last_hour: Date
}

/** Returns the use of those models that were used at all. Hours count as a whole. */
export async function readModelUse(
  queryable: Queryable,
  query: ModelUseQuery,
): Promise<ReadonlyMap<string, ModelUse>> {
  if (query.models.length === 0) return new Map()
  const { from, values } = selectHours(query)
  // By key first, because counting distinct values of many rows takes longer than adding them up.
  const rows = await queryable.query<ModelRow>(
    `SELECT model, count(DISTINCT account_id) AS accounts, count(*) AS keys, max(last_hour) AS last_hour, ${SUMS}
     FROM (${byKey(from)}) AS used GROUP BY model`,
    values,
  )
  return new Map(
    rows.map((row) => [
      row.model,
      {
        totals: totalsFromRow(row),
        accounts: Number(row.accounts),
        keys: Number(row.keys),
        lastHourMs: row.last_hour.getTime(),
      },
    ]),
  )
}

/** Returns the keys that used the models, those with the most requests first. */
export async function listKeyUse(queryable: Queryable, query: KeyUseQuery): Promise<OpenPage<KeyUse>> {
  if (query.models.length === 0) return { items: [], hasMore: false }
  const { from, values } = selectHours(query)
  const at = (offset: number): string => `$${values.length + offset}`
  const rows = await queryable.query<KeyRow>(
    `WITH used AS (${byKey(from)}), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY model ORDER BY requests DESC, key_id) AS place FROM used
       WHERE ${at(1)}::bigint IS NULL OR requests < ${at(1)} OR (requests = ${at(1)} AND key_id > ${at(2)}::uuid)
     )
     SELECT ranked.*, accounts.name AS account_name, api_keys.name AS key_name,
       coalesce(api_keys.revoked_at IS NOT NULL, true) AS is_revoked
     FROM ranked JOIN accounts ON accounts.id = ranked.account_id
     LEFT JOIN api_keys ON api_keys.id = ranked.key_id AND api_keys.account_id = ranked.account_id
     WHERE place <= ${at(3)} ORDER BY model, place`,
    [...values, query.after?.requests ?? null, query.after?.keyId ?? null, query.limit + 1],
  )
  const items = [...Map.groupBy(rows, ({ model }) => model).values()].flatMap((found) =>
    found.slice(0, query.limit).map(keyUseFromRow),
  )
  return { items, hasMore: items.length < rows.length }
}

function selectHours({ models, range, reader }: ModelUseQuery): { from: string; values: unknown[] } {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const hours = `FROM usage_rollups WHERE model = ANY (${bind(models)}::text[])
    AND hour >= ${bind(new Date(floorHour(range.fromMs)))} AND hour < ${bind(new Date(range.toMs))}`
  if (reader === null) return { from: hours, values }
  const owner = `${bind(reader.accountId)}::uuid`
  return { from: `${hours} AND account_id = ${owner}${filterConditions({}, reader, bind, owner)}`, values }
}

function byKey(from: string): string {
  return `SELECT model, account_id, key_id, max(hour) AS last_hour, ${SUMS} ${from} GROUP BY 1, 2, 3 HAVING sum(requests) > 0`
}

function keyUseFromRow(row: KeyRow): KeyUse {
  return {
    model: row.model,
    account: { id: row.account_id, name: row.account_name },
    key: { id: row.key_id, name: row.key_name, isRevoked: row.is_revoked },
    totals: totalsFromRow(row),
    lastHourMs: row.last_hour.getTime(),
  }
}
