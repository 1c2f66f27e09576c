import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'

/** The number of wrong codes per window for a person and for their account. */
const FAILURES_MAX = { user: 10, account: 100 } as const
const WINDOW_MS = 600_000

export interface Guesser {
  readonly accountId: string
  readonly userId: string
}

/**
 * Counts a code before it is looked up, over all processes, so that requests at the same time do not get more guesses. Throws if there were too
 * many wrong ones. `takeBackGuess` is called for a right one.
 */
export async function countGuess(queryable: Queryable, guesser: Guesser, nowMs: number): Promise<void> {
  const rows = await queryable.query<{ scope: string; failures: number; window_ends_at: Date }>(
    `INSERT INTO device_code_guesses AS known (scope, failures, window_ends_at)
     SELECT scope, 1, $2::timestamptz FROM unnest($1::text[]) AS scope ORDER BY scope
     ON CONFLICT (scope) DO UPDATE SET
       failures = CASE WHEN known.window_ends_at <= $3 THEN 1 ELSE known.failures + 1 END,
       window_ends_at = CASE WHEN known.window_ends_at <= $3 THEN excluded.window_ends_at ELSE known.window_ends_at END
     RETURNING scope, failures, window_ends_at`,
    [scopesOf(guesser), new Date(nowMs + WINDOW_MS), new Date(nowMs)],
  )
  for (const { scope, failures, window_ends_at: endsAt } of rows) {
    if (failures <= (scope.startsWith('user:') ? FAILURES_MAX.user : FAILURES_MAX.account)) continue
    const retryAfterSeconds = Math.ceil((endsAt.getTime() - nowMs) / 1000)
    const message = `Too many wrong codes. Try again in ${retryAfterSeconds} s.`
    throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds })
  }
}

export async function takeBackGuess(queryable: Queryable, guesser: Guesser): Promise<void> {
  await queryable.query(
    `UPDATE device_code_guesses g SET failures = greatest(g.failures - 1, 0)
     FROM (SELECT scope FROM device_code_guesses WHERE scope = ANY ($1) ORDER BY scope FOR UPDATE) locked WHERE g.scope = locked.scope`,
    [scopesOf(guesser)],
  )
}

function scopesOf({ accountId, userId }: Guesser): string[] {
  return [`account:${accountId}`, `user:${accountId}:${userId}`]
}
