import type { Environment, Reader } from '../keys/keys.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import { floorHour, type SplitRange, type UsageRange } from './usage-range.ts'
import { valueOfTag } from './value-of-tag.ts'
import { COST_COLUMNS, RECORD_COSTS, ROLLUP_COSTS } from './usage-costs.ts'
import { COUNT_COLUMNS, RECORD_COUNTS, ROLLUP_COUNTS } from './usage-totals.ts'

/** Filters for usage. */
export interface UsageFilter {
  readonly keyId?: string
  readonly model?: string
  readonly provider?: string
  readonly environment?: Environment
  readonly operation?: string
  readonly projectId?: string
  /** The label of a tag. Not together with a provider or an environment: sums by tag do not have them. */
  readonly label?: string
}

/** The dimensions by which usage can be grouped, with their columns. */
export const DIMENSIONS = {
  model: 'model',
  provider: 'provider',
  key: 'key_id',
  env: 'environment',
  tag: 'tag',
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
 * statement. `values` has the parameters of the surrounding statement before it.
 */
export function selectUsage(
  account: string | Reader,
  range: SplitRange,
  filter: UsageFilter = {},
  tagName: string | null = null,
  values: unknown[] = [],
  /** Also what vendors charge. */
  hasCosts = false,
): UsageSelection {
  const bind = (value: unknown): string => `$${values.push(value)}`
  const owner = typeof account === 'string' ? account : `${bind(account.accountId)}::uuid`
  const isOfLabels = filter.label !== undefined || tagName !== null
  const narrowed = filterConditions(
    filter,
    typeof account === 'string' ? null : account,
    bind,
    owner,
    isOfLabels,
  )
  const { label, hasLabel, tag } = tagParts(filter, tagName, bind)
  const fromHours = ({ fromMs, toMs }: UsageRange): string => {
    const counted = `${ROLLUP_COUNTS}${hasCosts ? ROLLUP_COSTS : ''}`
    const within = `account_id = ${owner} AND hour >= ${bind(new Date(fromMs))} AND hour < ${bind(new Date(toMs))}${narrowed}`
    const all = `SELECT hour, ${ATTRIBUTES}, NULL::text AS tag, ${counted} FROM usage_rollups WHERE ${within}`
    const tagged = (value: string, counts: string, condition: string): string =>
      `SELECT hour, key_id, NULL::text AS environment, model, NULL::text AS provider, ${value} AS tag, ${counts}
       FROM usage_by_label WHERE ${within} AND ${condition}`
    if (label !== null) return tagged(tag('label'), counted, `label = ${label}`)
    if (hasLabel === null) return all
    // What has no such tag is everything, less what has it.
    const less = [...COUNT_COLUMNS, ...(hasCosts ? COST_COLUMNS : [])]
      .map((column) => `-${column}`)
      .join(', ')
    return [all, tagged(tag('label'), counted, hasLabel), tagged('NULL::text', less, hasLabel)].join(
      ' UNION ALL ',
    )
  }
  const tagOfRecord =
    hasLabel === null
      ? 'NULL::text'
      : `(SELECT ${tag('label')} FROM unnest(labels) AS label WHERE ${hasLabel} LIMIT 1)`
  const labelled = label === null ? '' : ` AND labels @> ARRAY[${label}]`
  // Selected by id, because an id begins with the time of its request and the index ends with the id.
  const fromRecords = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT ${bind(new Date(floorHour(fromMs)))}::timestamptz AS hour, ${ATTRIBUTES}, ${tagOfRecord} AS tag, ${RECORD_COUNTS}${hasCosts ? RECORD_COSTS : ''} FROM usage_records
     WHERE account_id = ${owner} AND id >= ${bind(firstIdAt(fromMs))} AND id < ${bind(firstIdAt(toMs))}${narrowed}${labelled}`

  const [first = NO_EDGE, last = NO_EDGE] = range.edges
  return { sql: [fromHours(range.hours), fromRecords(first), fromRecords(last)].join(' UNION ALL '), values }
}

const NO_EDGE: UsageRange = { fromMs: 0, toMs: 0 }

/** SQL for the value of a dimension. Requests without a tag have an empty value. */
export function valueOf(by: Dimension): string {
  return by === 'tag' ? `coalesce(tag, '')` : DIMENSIONS[by]
}

/** Always binds all filters, so that the statement text is the same and is planned once. */
export function filterConditions(
  filter: UsageFilter,
  reader: Pick<Reader, 'ownKeyId' | 'projectId'> | null,
  bind: (value: unknown) => string,
  /** SQL for the id of the account. */
  owner: string,
  isOfLabels = false,
): string {
  const own = `${bind(reader?.ownKeyId ?? null)}::uuid`
  const columns = isOfLabels ? FILTER_COLUMNS.filter(([name]) => !WITHOUT_LABELS.has(name)) : FILTER_COLUMNS
  const conditions = columns.map(([name, column, type]) => {
    const parameter = `${bind(filter[name] ?? null)}::${type}`
    return ` AND (${parameter} IS NULL OR ${column} = ${parameter})`
  })
  // The reader's project decides, whatever is asked for.
  for (const projectId of [reader?.projectId ?? null, filter.projectId ?? null])
    conditions.push(` AND ${isKeyOfProject(owner, `${bind(projectId)}::uuid`)}`)
  return ` AND (${own} IS NULL OR key_id = ${own})${conditions.join('')}`
}

/** SQL: whether the key of a row is in the project. Keys without one are in `Default`. Null: any project. */
export function isKeyOfProject(owner: string, project: string): string {
  return `(${project} IS NULL OR key_id IN (
    SELECT id FROM api_keys WHERE account_id = ${owner} AND coalesce(project_id, account_id) = ${project}))`
}

/** Sums by label have neither provider nor environment. */
const WITHOUT_LABELS: ReadonlySet<string> = new Set(['provider', 'environment'])

/** SQL for the label to filter by, the condition of those to group by, and the value of one. */
function tagParts({ label }: UsageFilter, tagName: string | null, bind: (value: unknown) => string) {
  const prefix = tagName === null ? null : `${bind(`tag:${tagName}=`)}::text`
  return {
    label: label === undefined ? null : `${bind(label)}::text`,
    hasLabel: prefix === null ? null : `starts_with(label, ${prefix})`,
    tag: (name: string) =>
      prefix === null
        ? 'NULL::text'
        : `CASE WHEN starts_with(${name}, ${prefix}) THEN ${valueOfTag(name, prefix)} END`,
  }
}
