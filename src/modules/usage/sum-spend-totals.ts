import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'

/** What was spent in each scope, all writers together. Scopes in which nothing was spent are left out. */
export async function sumSpendTotals(
  queryable: Queryable,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, NanoUsd>> {
  if (scopes.length === 0) return new Map()
  const rows = await queryable.query<{ scope: string; spent: bigint }>(
    `SELECT scope, sum(spent_nano_usd)::bigint AS spent FROM spend_totals WHERE scope = ANY ($1) GROUP BY scope`,
    [scopes],
  )
  return new Map(rows.map(({ scope, spent }) => [scope, spent]))
}
