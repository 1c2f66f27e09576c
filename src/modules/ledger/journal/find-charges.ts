import { uuidOfRequest } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { postCharges } from './post-charges.ts'

/** The stored charge of a request. */
export interface FoundCharge {
  readonly costNanoUsd: NanoUsd
  readonly outcome: 'completed' | 'disconnected' | 'failed'
}

/** The charges of these requests by id, without those that were not charged. */
export async function findCharges(
  queryable: Queryable,
  accountId: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, FoundCharge>> {
  if (requestIds.length === 0) return new Map()
  await postCharges(queryable)
  const rows = await queryable.query<{ id: string; cost: bigint; outcome: FoundCharge['outcome'] }>(
    `SELECT replace(id::text, '-', '') AS id, cost_nano_usd AS cost, outcome FROM usage_records
     WHERE account_id = $1 AND id = ANY ($2::uuid[])`,
    [accountId, requestIds.map(uuidOfRequest)],
  )
  const byUuid = new Map(rows.map(({ id, cost, outcome }) => [id, { costNanoUsd: cost, outcome }]))
  return new Map(
    requestIds.flatMap((requestId) => {
      const charge = byUuid.get(uuidOfRequest(requestId))
      return charge === undefined ? [] : [[requestId, charge]]
    }),
  )
}
