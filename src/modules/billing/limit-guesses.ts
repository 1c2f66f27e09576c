import type { Queryable } from '../../storage/database.ts'

/** The number of wrong codes per window for a key and for its account. */
const FAILURES_MAX = { key: 5, account: 10 } as const
const WINDOW_MS = 600_000

export interface Guesser {
  readonly accountId: string
  readonly keyId: string
}

/**
 * Returns 0, or how long until the next attempt is allowed. Both counters stay locked until the transaction ends, so that
 * concurrent attempts on all processes are counted one after another.
 */
export async function readWaitMs(transaction: Queryable, guesser: Guesser, nowMs: number): Promise<number> {
  let waitMs = 0
  // Always in the same order, so that two attempts of an account do not deadlock.
  for (const kind of ['account', 'key'] as const) {
    const [row] = await transaction.query<{ failures: number; window_ends_at: Date }>(
      `INSERT INTO promo_guesses AS known (scope, failures, window_ends_at) VALUES ($1, 0, $2)
       ON CONFLICT (scope) DO UPDATE SET
         failures = CASE WHEN known.window_ends_at <= $3 THEN 0 ELSE known.failures END,
         window_ends_at = CASE WHEN known.window_ends_at <= $3 THEN excluded.window_ends_at ELSE known.window_ends_at END
       RETURNING failures, window_ends_at`,
      [scopeOf(kind, guesser), new Date(nowMs + WINDOW_MS), new Date(nowMs)],
    )
    if (row === undefined || row.failures < FAILURES_MAX[kind]) continue
    waitMs = Math.max(waitMs, row.window_ends_at.getTime() - nowMs)
  }
  return waitMs
}

export async function countFailure(transaction: Queryable, guesser: Guesser): Promise<void> {
  await transaction.query('UPDATE promo_guesses SET failures = failures + 1 WHERE scope = ANY ($1)', [
    [scopeOf('account', guesser), scopeOf('key', guesser)],
  ])
}

export async function forgetOldGuesses(queryable: Queryable, nowMs: number): Promise<void> {
  await queryable.query('DELETE FROM promo_guesses WHERE window_ends_at < $1', [new Date(nowMs - WINDOW_MS)])
}

function scopeOf(kind: 'account' | 'key', { accountId, keyId }: Guesser): string {
  return kind === 'account' ? `account:${accountId}` : `key:${keyId}`
}
