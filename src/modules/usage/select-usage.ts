import type { Environment, Reader } from '../keys/keys.ts'
import { firstIdAt, floorHour, type SplitRange, type UsageRange } from './usage-range.ts'
import { RECORD_COUNTS, ROLLUP_COUNTS } from './usage-totals.ts'

/** Filters for usage. */
export interface UsageFilter {
  readonly keyId?: string
  readonly model?: string
  readonly provider?: string
  readonly environment?: Environment
  readonly operation?: string
}

/** The dimensions by which usage can be grouped, with their columns. */
export const DIMENSIONS = {
  model: 'model',
  provider: 'provider',
  key: 'key_id',
  env: 'environment',
} as const
export type Dimension = keyof typeof DIMENSIONS

const ATTRIBUTES = 'key_id, environment, model, provider'

const FILTER_COLUMNS = [
  ['keyId', 'key_id', 'uuid'],
  ['model', 'model', 'text'],
  ['provider', 'provider', 'text'],
  ['environment', 'environment', 'text'],
  ['operation', 'operation', 'text'],
] as const satisfies readonly (readonly [keyof UsageFilter, string, string])[]

/** A SQL relation of all usage of an account in a range, with its parameter values. */
export interface UsageSelection {
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * Selects whole hours from the rollups and the rest from the records. Both are in one relation, so that one statement sees a
 * consistent state. `account` is who reads, or SQL for the account's id: a column of the surrounding
 * statement.
 */
export function selectUsage(
  account: string | Reader,
  range: SplitRange,
  filter: UsageFilter = {},
): UsageSelection {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const owner = typeof account === 'string' ? account : `${bind(account.accountId)}::uuid`
  const ownKeyId = typeof account === 'string' ? null : account.ownKeyId
  const narrowed = filterConditions(filter, ownKeyId, bind)

  const fromHours = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT hour, ${ATTRIBUTES}, ${ROLLUP_COUNTS} FROM usage_rollups
     WHERE account_id = ${owner} AND hour >= ${bind(new Date(fromMs))} AND hour < ${bind(new Date(toMs))}${narrowed}`
  // Selected by id, because an id begins with the time of its request and the index ends with the id.
  const fromRecords = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT ${bind(new Date(floorHour(fromMs)))}::timestamptz AS hour, ${ATTRIBUTES}, ${RECORD_COUNTS} FROM usage_records
     WHERE account_id = ${owner} AND id >= ${bind(firstIdAt(fromMs))} AND id < ${bind(firstIdAt(toMs))}${narrowed}`

  const [first = NO_EDGE, last = NO_EDGE] = range.edges
  return { sql: [fromHours(range.hours), fromRecords(first), fromRecords(last)].join(' UNION ALL '), values }
}

const NO_EDGE: UsageRange = { fromMs: 0, toMs: 0 }

/** Always binds all filters, so that the statement text is the same and is planned once. */
export function filterConditions(
  filter: UsageFilter,
  ownKeyId: Reader['ownKeyId'],
  bind: (value: unknown) => string,
): string {
  const own = `${bind(ownKeyId)}::uuid`
  const conditions = FILTER_COLUMNS.map(([name, column, type]) => {
    const parameter = `${bind(filter[name] ?? null)}::${type}`
    return ` AND (${parameter} IS NULL OR ${column} = ${parameter})`
  })
  return ` AND (${own} IS NULL OR key_id = ${own})${conditions.join('')}`
}
