import { GATEWAY_GRAINS, type GatewayColumn, type GatewayGrain } from '../sums/gateway-grains.ts'
import { DAY_MS, floorDay, type UsageRange } from '../usage-range.ts'
import { SOURCE_COLUMNS, type GatewayQuery } from './gateway-query.ts'

/** A query of all accounts that the sums of days can answer: not by label, and not of one account. */
export type SummedQuery = GatewayQuery & { readonly by: Exclude<GatewayQuery['by'], 'tag'> }

export function isSummed(query: GatewayQuery): query is SummedQuery {
  // What one account used, and labels, are found by indexes that begin with the account.
  return query.by !== 'tag' && query.accountId === null && query.filter.label === undefined
}

/** Returns the grain with the fewest rows that has all columns which are needed. Null if there is none. */
export function findGrain({ by, filter }: SummedQuery, hasLatency = false): GatewayGrain | null {
  const { keyId, projectId, model, provider, environment } = filter
  const needed: GatewayColumn[] = [
    SOURCE_COLUMNS[by],
    ...(by === 'project' ? (['account_id'] as const) : []),
    ...(keyId !== undefined || projectId !== undefined ? (['key_id'] as const) : []),
    ...(model === undefined ? [] : (['model'] as const)),
    ...(provider === undefined ? [] : (['provider'] as const)),
    ...(environment === undefined ? [] : (['environment'] as const)),
  ]
  const found = GATEWAY_GRAINS.find(
    (grain) => (grain.hasLatency || !hasLatency) && needed.every((column) => grain.columns.includes(column)),
  )
  return found ?? null
}

/** A range in whole days, which have sums, and what is left of it. */
interface DividedRange {
  /** SQL: whether the sums of a `day` are those that count. */
  readonly isSummed: (day: string) => string
  /** The times that sums do not have, as SQL from and to. Some need a FROM item, for each of whose rows they are read. */
  readonly rest: readonly { readonly from: string; readonly to: string; readonly each?: string }[]
}

/** Divides a range of whole hours. Null if it has no whole day. All parts must be read in one statement: days are summed meanwhile. */
export function divideRange(
  { fromMs, toMs }: UsageRange,
  bind: (value: unknown) => string,
): DividedRange | null {
  const [firstMs, lastMs] = [Math.ceil(fromMs / DAY_MS) * DAY_MS, floorDay(toMs)]
  if (firstMs >= lastMs) return null
  const at = (epochMs: number): string => `${bind(new Date(epochMs))}::timestamptz`
  const [from, first, last, to] = [at(fromMs), at(firstMs), at(lastMs), at(toMs)]
  return {
    isSummed: (day) =>
      `${day} >= ${first} AND ${day} < least(${last}, ${SUMMED_UNTIL}) AND (${day} AT TIME ZONE 'UTC')::date <> ALL (${STALE_DAYS})`,
    rest: [
      { from, to: first },
      { from: `greatest(${first}, least(${last}, ${SUMMED_UNTIL}))`, to },
      {
        from: `greatest(${first}, ${startOf('stale.day')})`,
        to: `least(${last}, ${startOf('(stale.day + 1)')})`,
        each: `unnest(${STALE_DAYS}) AS stale (day)`,
      },
    ],
  }
}

const startOf = (day: string): string => `(${day}::timestamp AT TIME ZONE 'UTC')`

const SUMMED_UNTIL = `(SELECT ${startOf('summed_until')} FROM gateway_sum_progress)`

/** Days whose sums are not right any more. */
const STALE_DAYS = `ARRAY(
  SELECT DISTINCT day FROM gateway_stale_days WHERE day < (SELECT summed_until FROM gateway_sum_progress))`
