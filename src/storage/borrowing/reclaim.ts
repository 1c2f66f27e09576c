import type { Logger } from '../../kernel/logger.ts'
import type { Database, Queryable } from '../database.ts'

/** Gives back, within one transaction, everything that a borrower still has. */
export type Reclaimer = (transaction: Queryable, borrowerId: string) => Promise<void>

interface ReclaimOptions {
  readonly database: Database
  readonly logger: Logger
  readonly reclaimers: readonly Reclaimer[]
}

const RECLAIMED_AT_ONCE_MAX = 20

/** Takes back the loans of processes that stopped renewing their lease. Any process does it for all. */
export async function reclaimExpired(options: ReclaimOptions): Promise<void> {
  const expired = await options.database.query<{ id: string }>(
    'SELECT id FROM borrowers WHERE closed_at IS NULL AND expires_at < now() ORDER BY expires_at LIMIT $1',
    [RECLAIMED_AT_ONCE_MAX],
  )
  for (const { id } of expired) {
    const isReclaimed = await reclaim(options, id, 'expires_at < now()')
    if (isReclaimed) options.logger.warn({ borrower: id }, 'took back what a dead process had borrowed')
  }
  // Kept for a day, so that a process that wakes up late can look up its commits.
  await options.database.query(
    `WITH forgotten AS (
       DELETE FROM borrowers WHERE closed_at < now() - interval '1 day'
         AND NOT EXISTS (SELECT FROM credit_leases WHERE borrower_id = borrowers.id)
       RETURNING id
     )
     DELETE FROM journal_positions USING forgotten WHERE borrower_id = forgotten.id`,
  )
}

/** Gives back the loans of this process when it stops. */
export async function reclaimNow(options: ReclaimOptions, borrowerId: string): Promise<void> {
  await reclaim(options, borrowerId, 'true')
}

/** Locks the row first: a concurrent borrow either finishes before or finds the borrower closed. */
function reclaim(
  { database, reclaimers }: ReclaimOptions,
  borrowerId: string,
  condition: string,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // Conflicts with the light lock that every borrow takes.
    await transaction.query('SELECT FROM borrowers WHERE id = $1 FOR UPDATE', [borrowerId])
    const closed = await transaction.query(
      `UPDATE borrowers SET closed_at = now() WHERE id = $1 AND closed_at IS NULL AND ${condition} RETURNING id`,
      [borrowerId],
    )
    if (closed.length === 0) return false
    for (const reclaimer of reclaimers) await reclaimer(transaction, borrowerId)
    return true
  })
}
