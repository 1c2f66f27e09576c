import { keepTrying } from '../../../kernel/keep-trying.ts'
import type { Queryable } from '../../../storage/database.ts'
import { findCharges, type FoundCharge } from '../../ledger/ledger.ts'

/** Reads the ledger's record of a request of the account. */
export type FindCharge = (requestId: string) => Promise<FoundCharge | null>

/** Reads it again through a restart of the database. */
export function createFindCharge(
  queryable: Queryable,
  accountId: string,
  isGivenUp: () => boolean,
): FindCharge {
  return async (requestId) => {
    const found = await keepTrying(() => findCharges(queryable, accountId, [requestId]), isGivenUp)
    return found.get(requestId) ?? null
  }
}
