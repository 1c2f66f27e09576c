import type { Environment } from '../keys/keys.ts'
import { firstIdAt, floorHour, type SplitRange, type UsageRange } from './usage-range.ts'
import { RECORD_COUNTS, ROLLUP_COUNTS } from './usage-totals.ts'

/** What usage can be narrowed to. */
export interface UsageFilter {
  readonly keyId?: string
  readonly model?: string
  readonly provider?: string
  readonly environment?: Environment
  readonly operation?: string
}

/** What usage can be split by, and the column for it. */
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

/** A relation of everything an account used in a range, and the values its parameters stand for. */
export interface UsageSelection {
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * Whole hours from the rollups and the rest from the records, in one relation, so that one statement sees one state of both.
 * `account` is SQL for the account's id: a parameter, or a column of the statement around it.
 */
export function selectUsage(
  account: string | { readonly accountId: string },
  range: SplitRange,
  filter: UsageFilter = {},
): UsageSelection {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const owner = typeof account === 'string' ? account : `${bind(account.accountId)}::uuid`
  const narrowed = filterConditions(filter, bind)

  const fromHours = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT hour, ${ATTRIBUTES}, ${ROLLUP_COUNTS} FROM usage_rollups
     WHERE account_id = ${owner} AND hour >= ${bind(new Date(fromMs))} AND hour < ${bind(new Date(toMs))}${narrowed}`
  // By id, because an id begins with the time of its request and the index ends with the id.
  const fromRecords = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT ${bind(new Date(floorHour(fromMs)))}::timestamptz AS hour, ${ATTRIBUTES}, ${RECORD_COUNTS} FROM usage_records
     WHERE account_id = ${owner} AND id >= ${bind(firstIdAt(fromMs))} AND id < ${bind(firstIdAt(toMs))}${narrowed}`

  const [first = NO_EDGE, last = NO_EDGE] = range.edges
  return { sql: [fromHours(range.hours), fromRecords(first), fromRecords(last)].join(' UNION ALL '), values }
}

const NO_EDGE: UsageRange = { fromMs: 0, toMs: 0 }

/** All of them, whether asked for or not: one statement for every question is planned once. */
export function filterConditions(filter: UsageFilter, bind: (value: unknown) => string): string {
  return FILTER_COLUMNS.map(([name, column, type]) => {
    const parameter = `${bind(filter[name] ?? null)}::${type}`
    return ` AND (${parameter} IS NULL OR ${column} = ${parameter})`
  }).join('')
}
