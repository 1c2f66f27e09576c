import type { Logger } from '../../../kernel/logger.ts'
import type { KeptConnection, Queryable } from '../../../storage/database.ts'
import type { LedgerObserver } from './commit-health.ts'

/** Commits that the database had confirmed and does not have any more. */
export interface LostCommits {
  readonly commits: number
  /** The charges in them, as far as this process still knows. */
  readonly charges: number
  /** The last commit that is still there. */
  readonly lastSequence: number
}

interface Confirmed {
  readonly sequence: number
  readonly charges: number
}

/** Of older commits only the number is known. */
const COUNTED_MAX = 1_000

/**
 * Finds out that a standby without the last commits took the place of the primary. That needs a new connection, so the last confirmed
 * commit is looked up once on each connection that was opened after it.
 */
export class ConfirmedCommits {
  #last: { readonly sequence: number; readonly atMs: number } | null = null
  #counted: Confirmed[] = []

  note(sequence: number, charges: number): void {
    this.#last = { sequence, atMs: performance.now() }
    this.#counted.push({ sequence, charges })
    if (this.#counted.length > COUNTED_MAX * 2) this.#counted.splice(0, COUNTED_MAX)
  }

  forget(): void {
    this.#last = null
    this.#counted = []
  }

  /** Whether this connection may lead to another server than the one that confirmed the last commit. */
  mustLookAt({ openedAtMs }: KeptConnection): boolean {
    return this.#last !== null && openedAtMs > this.#last.atMs
  }

  /** Returns what is lost, once. Call it before the next commit on this connection. */
  async findLost(queryable: Queryable, borrowerId: string): Promise<LostCommits | null> {
    if (this.#last === null) return null
    const { sequence } = this.#last
    const [row] = await queryable.query<{ last: bigint }>(LAST, [borrowerId, sequence])
    const lastSequence = Number(row?.last ?? 0n)
    this.#last = { sequence, atMs: performance.now() }
    if (lastSequence >= sequence) return null
    const lost = this.#counted.filter((commit) => commit.sequence > lastSequence)
    this.forget()
    const charges = lost.reduce((sum, commit) => sum + commit.charges, 0)
    return { commits: sequence - lastSequence, charges, lastSequence }
  }
}

export function reportLost(
  lost: LostCommits,
  { logger, observer }: { readonly logger: Logger; readonly observer: LedgerObserver },
): void {
  observer.lost(lost.charges)
  logger.error(
    { ...lost },
    'the database has lost charges that it had confirmed: a standby without them became the primary. Let commits wait for a standby',
  )
}

const LAST = `
  SELECT coalesce(greatest(
    (SELECT max(sequence) FROM charge_journal WHERE borrower_id = $1 AND sequence <= $2),
    (SELECT sequence FROM journal_positions WHERE borrower_id = $1)), 0)::bigint AS last`
