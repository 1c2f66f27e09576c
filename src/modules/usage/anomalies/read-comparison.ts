import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Reader } from '../../keys/keys.ts'
import { filterConditions } from '../select-usage.ts'
import { DAY_MS, floorDay, floorHour, type UsageRange } from '../usage-range.ts'
import {
  explainAnomaly,
  isUnusual,
  medianOf,
  WEEKS_MAX,
  type CauseDimension,
  type ComparedCosts,
  type NamedCosts,
  type SpendingAnomaly,
} from './find-anomaly.ts'

/** The whole hours of a day of UTC, beside the same hours of the same weekdays before. */
export interface WeekdayComparison {
  readonly range: UsageRange
  readonly spentNanoUsd: NanoUsd
  /** The median of the weekdays before. */
  readonly usualNanoUsd: NanoUsd
  /** How many weekdays are known, since the first use. */
  readonly weekdays: number
  /** Null if the day is not unusual, or too little is known. */
  readonly anomaly: SpendingAnomaly | null
}

const WEEK_MS = 7 * DAY_MS
/** Of each dimension: those that cost most, which an unusual day is made of. */
const PARTS_MAX = 20

/** Compares the day so far, up to the last whole hour; in the first hour of a day, the day before. */
export async function readComparison(
  queryable: Queryable,
  reader: Reader,
  nowMs: number,
): Promise<WeekdayComparison> {
  const toMs = floorHour(nowMs)
  const range = { fromMs: floorDay(toMs - 1), toMs }
  const rows = await readWeeks(queryable, reader, range)
  const weekdays = Math.max(0, ...rows.map(({ weekdays: known }) => Number(known)))
  const costsOf = (found: readonly WeekRow[]): ComparedCosts => {
    const costs = new Map(found.map(({ week, cost }) => [week, Number(cost)]))
    const before = Array.from({ length: weekdays }, (_, index) => costs.get(index + 1) ?? 0)
    return { spent: costs.get(0) ?? 0, before }
  }
  const whole = costsOf(rows.filter(({ dimension }) => dimension === null))
  return {
    range,
    spentNanoUsd: rows.find(({ dimension, week }) => dimension === null && week === 0)?.cost ?? 0n,
    usualNanoUsd: BigInt(Math.round(medianOf(whole.before))),
    weekdays,
    anomaly: isUnusual(whole) ? explainAnomaly(whole, partsOf(rows, costsOf)) : null,
  }
}

function partsOf(
  rows: readonly WeekRow[],
  costsOf: (found: readonly WeekRow[]) => ComparedCosts,
): NamedCosts[] {
  const groups = Map.groupBy(
    rows.filter(({ dimension }) => dimension !== null),
    ({ dimension, id }) => `${dimension}:${id}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [{ dimension, id, name } = NO_ROW] = group
    return dimension === null || id === null ? [] : [{ dimension, id, name, ...costsOf(group) }]
  })
}

interface WeekRow {
  /** Null for the sum of all. */
  readonly dimension: CauseDimension | null
  readonly id: string | null
  readonly name: string | null
  /** How many weeks ago. */
  readonly week: number
  readonly cost: bigint
  readonly weekdays: bigint
}

const NO_ROW: WeekRow = { dimension: null, id: null, name: null, week: 0, cost: 0n, weekdays: 0n }

/** Reads at most nine times the hours of a day, which the primary key finds. Weeks are hours, because a day of the database's time zone may have 23. */
function readWeeks(queryable: Queryable, reader: Reader, { fromMs, toMs }: UsageRange): Promise<WeekRow[]> {
  const values: unknown[] = [
    reader.accountId,
    new Date(fromMs),
    new Date(toMs),
    WEEKS_MAX,
    PARTS_MAX,
    WEEK_MS / 1_000,
  ]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const narrowed = filterConditions({}, reader, bind, '$1::uuid')
  return queryable.query<WeekRow>(
    `WITH first AS (
       SELECT least($4::integer, floor(extract(epoch FROM $2::timestamptz - date_trunc('day', min(hour), 'UTC')) / $6))::bigint AS weekdays
       FROM usage_rollups WHERE account_id = $1${narrowed}
     ), used AS MATERIALIZED (
       SELECT week, key_id, model, cost_nano_usd AS cost
       FROM generate_series(0, $4::integer) AS week CROSS JOIN LATERAL (
         SELECT key_id, model, cost_nano_usd FROM usage_rollups
         WHERE account_id = $1::uuid AND hour >= $2::timestamptz - week * interval '168 hours'
           AND hour < $3::timestamptz - week * interval '168 hours'${narrowed}
       ) AS rollup
     ), placed AS (
       SELECT week, key_id, model, coalesce(keys.project_id, $1::uuid) AS project_id, keys.name AS key_name, cost
       FROM used LEFT JOIN api_keys keys ON keys.account_id = $1 AND keys.id = used.key_id
     ), summed AS (
       SELECT NULL AS dimension, NULL AS id, week, sum(cost)::bigint AS cost FROM placed GROUP BY week
       UNION ALL SELECT 'key', key_id::text, week, sum(cost)::bigint FROM placed GROUP BY key_id, week
       UNION ALL SELECT 'model', model, week, sum(cost)::bigint FROM placed GROUP BY model, week
       UNION ALL SELECT 'project', project_id::text, week, sum(cost)::bigint FROM placed GROUP BY project_id, week
     ), dearest AS (
       SELECT dimension, id FROM (
         SELECT dimension, id, row_number() OVER (PARTITION BY dimension ORDER BY cost DESC, id) AS place
         FROM summed WHERE week = 0 AND dimension IS NOT NULL
       ) AS ranked WHERE place <= $5
     )
     SELECT summed.dimension, summed.id, summed.week, summed.cost, coalesce(first.weekdays, 0) AS weekdays,
       CASE summed.dimension WHEN 'key' THEN keys.name WHEN 'project' THEN projects.name END AS name
     FROM summed CROSS JOIN first LEFT JOIN dearest USING (dimension, id)
     LEFT JOIN api_keys keys ON summed.dimension = 'key' AND keys.account_id = $1 AND keys.id::text = summed.id
     LEFT JOIN projects ON summed.dimension = 'project' AND projects.account_id = $1 AND projects.id::text = summed.id
     WHERE summed.dimension IS NULL OR dearest.id IS NOT NULL`,
    values,
  )
}
