import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'

/** Returns the spending of each scope. */
export async function readSpent(
  queryable: Queryable,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, NanoUsd>> {
  if (scopes.length === 0) return new Map()
  const rows = await queryable.query<{ scope: string; spent: bigint }>(
    'SELECT scope, spent_under(scope) AS spent FROM unnest($1::text[]) AS scope',
    [scopes],
  )
  return new Map(rows.map(({ scope, spent }) => [scope, spent]))
}
