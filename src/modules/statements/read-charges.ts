import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import { dayText, type StatementMonth } from './statement-month.ts'
import type { ChargeDimension, ChargeLine, Charges } from './statement.ts'

/** Of each list. What is beyond is one line. */
const LINES_MAX = 500

/** What the ledger charged without a key and a model, such as by a process of the release before. */
const UNNAMED = 'Charges without details'

interface LineRow {
  readonly dimension: ChargeDimension
  /** Null for the lines beyond the limit. */
  readonly id: string | null
  readonly name: string | null
  readonly lines: bigint
  readonly requests: bigint
  readonly amount: bigint
}

/**
 * Adds up the charges of a month.
 * @param charged by the ledger; null if only the charges themselves say it, as for a project
 */
export async function readCharges(
  queryable: Queryable,
  place: Place,
  { month, charged }: { month: StatementMonth; charged: NanoUsd | null },
): Promise<Charges> {
  const rows = await queryable.query<LineRow>(READ_LINES, [
    place.accountId,
    dayText(month.fromMs),
    dayText(month.toMs),
    place.projectId,
    LINES_MAX,
  ])
  const named = sumOf(rows.filter(({ dimension }) => dimension === 'day').map(lineFromRow))
  const unnamed = charged === null ? 0n : charged - named
  const linesOf = (dimension: ChargeDimension): ChargeLine[] => {
    const lines = rows.filter((row) => row.dimension === dimension).map(lineFromRow)
    if (unnamed !== 0n) lines.push({ id: null, name: UNNAMED, requests: 0, amountNanoUsd: unnamed })
    return lines
  }
  const lines = {
    model: linesOf('model'),
    project: linesOf('project'),
    key: linesOf('key'),
    day: linesOf('day'),
  }
  const totalNanoUsd = named + unnamed
  for (const [dimension, list] of Object.entries(lines))
    if (sumOf(list) !== totalNanoUsd)
      throw new Error(`charges by ${dimension} are ${sumOf(list)} of ${totalNanoUsd}`)
  return { totalNanoUsd, lines }
}

function sumOf(lines: readonly ChargeLine[]): NanoUsd {
  return lines.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)
}

function lineFromRow(row: LineRow): ChargeLine {
  const name = row.id === null ? `${row.lines} others` : (row.name ?? row.id)
  return { id: row.id, name, requests: Number(row.requests), amountNanoUsd: row.amount }
}

/** Reads the charges once for all lists. Keys that do not exist any more count for the project `Default`. */
const READ_LINES = `
  WITH charged AS MATERIALIZED (
    SELECT day, key_id, model, coalesce(keys.project_id, charge.account_id) AS project_id,
      sum(requests) AS requests, sum(amount_nano_usd) AS amount
    FROM charges_by_day charge LEFT JOIN api_keys keys ON keys.account_id = charge.account_id AND keys.id = charge.key_id
    WHERE charge.account_id = $1::uuid AND day >= $2::date AND day < $3::date
      AND ($4::uuid IS NULL OR coalesce(keys.project_id, charge.account_id) = $4)
    GROUP BY day, key_id, model, coalesce(keys.project_id, charge.account_id)
  ), grouped AS (
    SELECT CASE grouping(model, project_id, key_id, day)
        WHEN 7 THEN 'model' WHEN 11 THEN 'project' WHEN 13 THEN 'key' ELSE 'day' END AS dimension,
      coalesce(model, project_id::text, key_id::text, day::text) AS id,
      sum(requests) AS requests, sum(amount) AS amount
    FROM charged GROUP BY GROUPING SETS ((model), (project_id), (key_id), (day))
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY dimension ORDER BY amount DESC, id) AS place FROM grouped
  ), kept AS (
    SELECT dimension, CASE WHEN place <= $5 THEN id END AS id, count(*) AS lines,
      sum(requests)::bigint AS requests, sum(amount)::bigint AS amount
    FROM ranked GROUP BY 1, 2
  )
  SELECT dimension, kept.id, lines, requests, amount,
    CASE dimension WHEN 'key' THEN keys.name WHEN 'project' THEN projects.name END AS name
  FROM kept
  LEFT JOIN api_keys keys ON dimension = 'key' AND keys.account_id = $1 AND keys.id::text = kept.id
  LEFT JOIN projects ON dimension = 'project' AND projects.account_id = $1 AND projects.id::text = kept.id
  ORDER BY dimension, kept.id IS NULL, CASE dimension WHEN 'day' THEN kept.id END, amount DESC, kept.id`
