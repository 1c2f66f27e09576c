import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import { readMovements, type MovementPosition } from './read-balance.ts'
import { dayText } from './statement-month.ts'
import type { Statement } from './statement.ts'
import type { MovementKind } from './statement-sums.ts'

/** A line of the file with all rows. The amounts of all lines add up to the change of the balance. */
export interface StatementRow {
  /** The day of a charge, or the time of a movement. */
  readonly at: string
  readonly kind: MovementKind
  readonly amountNanoUsd: NanoUsd
  readonly reason: string | null
  readonly charge: {
    readonly projectId: string
    readonly projectName: string
    readonly keyId: string
    readonly keyName: string | null
    readonly model: string
    readonly requests: number
  } | null
}

const ROWS_AT_ONCE = 1_000

/** Walks over the movements of a statement and then its charges by day, project, key and model, in parts. */
export async function* walkRows(
  queryable: Queryable,
  place: Place,
  statement: Statement,
): AsyncGenerator<readonly StatementRow[], void> {
  if (statement.balance !== null) yield* walkMovements(queryable, place.accountId, statement)
  let named = 0n
  for await (const part of walkCharges(queryable, place, statement)) {
    for (const { amountNanoUsd } of part) named -= amountNanoUsd
    yield part
  }
  const rest = statement.charges.totalNanoUsd - named
  if (rest === 0n) return
  const reason = 'Charges without details'
  yield [{ at: dayText(statement.month.fromMs), kind: 'charges', amountNanoUsd: -rest, reason, charge: null }]
}

async function* walkMovements(
  queryable: Queryable,
  accountId: string,
  { month }: Statement,
): AsyncGenerator<readonly StatementRow[], void> {
  let after: MovementPosition | null = null
  for (;;) {
    const part = await readMovements(queryable, accountId, { ...month, limit: ROWS_AT_ONCE, after })
    yield part.map(({ atMs, kind, amountNanoUsd, reason }) => {
      return { at: new Date(atMs).toISOString(), kind, amountNanoUsd, reason, charge: null }
    })
    after = part.at(-1)?.position ?? null
    if (part.length < ROWS_AT_ONCE) return
  }
}

interface ChargeRow {
  readonly day: string
  readonly key_id: string
  readonly key_name: string | null
  readonly project_id: string
  readonly project_name: string | null
  readonly model: string
  readonly requests: bigint
  readonly amount: bigint
}

async function* walkCharges(
  queryable: Queryable,
  { accountId, projectId }: Place,
  { month }: Statement,
): AsyncGenerator<readonly StatementRow[], void> {
  let after: ChargeRow | undefined
  for (;;) {
    const rows: ChargeRow[] = await queryable.query<ChargeRow>(READ_CHARGES, [
      accountId,
      dayText(month.fromMs),
      dayText(month.toMs),
      projectId,
      ROWS_AT_ONCE,
      after?.day ?? null,
      after?.key_id ?? null,
      after?.model ?? null,
    ])
    yield rows.map(rowFromCharge)
    after = rows.at(-1)
    if (rows.length < ROWS_AT_ONCE) return
  }
}

function rowFromCharge(row: ChargeRow): StatementRow {
  return {
    at: row.day,
    kind: 'charges',
    amountNanoUsd: -row.amount,
    reason: null,
    charge: {
      projectId: row.project_id,
      projectName: row.project_name ?? '',
      keyId: row.key_id,
      keyName: row.key_name,
      model: row.model,
      requests: Number(row.requests),
    },
  }
}

/** The primary key gives the order, so that a page is read without a sort of the month. */
const READ_CHARGES = `
  SELECT page.day::text, page.key_id, page.model, page.requests, page.amount, page.key_name, page.project_id, projects.name AS project_name
  FROM (
    SELECT day, key_id, model, sum(requests)::bigint AS requests, sum(amount_nano_usd)::bigint AS amount,
      min(keys.name) AS key_name, coalesce(keys.project_id, charge.account_id) AS project_id
    FROM charges_by_day charge LEFT JOIN api_keys keys ON keys.account_id = charge.account_id AND keys.id = charge.key_id
    WHERE charge.account_id = $1::uuid AND day >= coalesce($6::date, $2::date) AND day < $3::date
      AND ($6::date IS NULL OR (day, key_id, model) > ($6::date, $7::uuid, $8::text))
      AND ($4::uuid IS NULL OR coalesce(keys.project_id, charge.account_id) = $4)
    GROUP BY day, key_id, model, coalesce(keys.project_id, charge.account_id)
    ORDER BY day, key_id, model LIMIT $5
  ) AS page
  LEFT JOIN projects ON projects.account_id = $1 AND projects.id = page.project_id
  ORDER BY page.day, page.key_id, page.model`
