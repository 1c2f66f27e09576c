import type { Queryable } from '../../storage/database.ts'
import { toArray } from './record-usage.ts'
import type { Charge } from './usage-record.ts'

const UNIQUE_VIOLATION = '23505'

/** Whether a commit failed because one of its requests has been charged already. */
export function isChargedBefore(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint' in error &&
    error.constraint === 'usage_records_pkey'
  )
}

/**
 * Tells charges of requests that were charged before from those that were not: a request that goes on under the id of
 * one whose process died is not charged again.
 */
export async function findRepeatedCharges<Found extends Charge>(
  queryable: Queryable,
  charges: readonly Found[],
): Promise<{ repeated: Found[]; fresh: Found[] }> {
  const rows = await queryable.query<{ name: string }>(FIND, [
    toArray(charges, ({ record }) => record.accountId),
    toArray(charges, ({ record }) => record.id),
  ])
  const charged = new Set(rows.map(({ name }) => name))
  const repeated: Found[] = []
  const fresh: Found[] = []
  for (const charge of charges) {
    const { accountId, id } = charge.record
    const name = `${accountId}:${id}`
    if (charged.has(name)) repeated.push(charge)
    else fresh.push(charge)
    // Of two of the same commit, one is charged.
    charged.add(name)
  }
  return { repeated, fresh }
}

const FIND = `
  SELECT account_id || ':' || replace(id::text, '-', '') AS name
  FROM unnest($1::uuid[], $2::uuid[]) AS asked (account_id, id) JOIN usage_records USING (account_id, id)`
