import { firstIdAt } from '../../../kernel/identifiers.ts'
import { COST_COLUMNS, RECORD_COSTS } from '../usage-costs.ts'
import { floorHour, splitRange, type UsageRange } from '../usage-range.ts'
import { COUNT_COLUMNS, RECORD_COUNTS } from '../usage-totals.ts'
import { gatewayConditions, SOURCE_COLUMNS } from './gateway-query.ts'
import { divideRange, findGrain, type SummedQuery } from './summed-days.ts'

interface SelectOptions {
  readonly bind: (value: unknown) => string
  readonly hasCosts: boolean
  /** Whether only days are told apart, so that their sums can be read. */
  readonly isOfDays: boolean
}

/**
 * SQL for the usage of all accounts together in a range: `hour`, `account_id`, the column that its groups are made of as `source`, and
 * figures. Whole days come from their sums, days that changed since and other hours from the rollups, the rest from the records.
 */
export function selectGatewayDays(query: SummedQuery, { bind, hasCosts, isOfDays }: SelectOptions): string {
  const { hours, edges } = splitRange(query.range)
  const source = SOURCE_COLUMNS[query.by]
  const figures = [...COUNT_COLUMNS, ...(hasCosts ? COST_COLUMNS : [])]
    .map((column) => `rows.${column}`)
    .join(', ')
  const conditions = gatewayConditions(query, bind)
  const at = (epochMs: number): string => `${bind(new Date(epochMs))}::timestamptz`
  const fromHours = (from: string, to: string, each?: string): string =>
    `SELECT rows.hour, rows.account_id, rows.${source} AS source, ${figures}
     FROM ${each === undefined ? '' : `${each} CROSS JOIN `}usage_rollups AS rows
     WHERE rows.hour >= ${from} AND rows.hour < ${to}${conditions}`
  // By id, because an id begins with the time of its request.
  const fromRecords = ({ fromMs, toMs }: UsageRange): string =>
    `SELECT ${at(floorHour(fromMs))} AS hour, rows.account_id, rows.${source} AS source, ${RECORD_COUNTS}${hasCosts ? RECORD_COSTS : ''}
     FROM usage_records AS rows WHERE rows.id >= ${bind(firstIdAt(fromMs))}::uuid AND rows.id < ${bind(firstIdAt(toMs))}::uuid${conditions}`

  const grain = isOfDays ? findGrain(query) : null
  const divided = grain === null ? null : divideRange(hours, bind)
  const whole =
    grain === null || divided === null
      ? [fromHours(at(hours.fromMs), at(hours.toMs))]
      : [
          `SELECT rows.day AS hour, rows.account_id, rows.${source} AS source, ${figures} FROM gateway_usage_days AS rows
           WHERE rows.grain = ${bind(grain.name)}::text AND ${divided.isSummed('rows.day')}${conditions}`,
          ...divided.rest.map(({ from, to, each }) => fromHours(from, to, each)),
        ]
  return [...whole, ...edges.map(fromRecords)].join(' UNION ALL ')
}
