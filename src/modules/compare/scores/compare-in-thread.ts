import { BoundedMap } from '../../../kernel/bounded-map.ts'
import { ThreadPool } from '../../../kernel/thread-pool.ts'
import type { Comparison } from './compare-output.ts'

/** Time limit for patterns, which may backtrack exponentially. */
const PATTERN_MS_MAX = 500
/** Time limit for everything else, which takes linear time. Far more than the longest answers need. */
const COMPARISON_MS_MAX = 30_000
const THREADS_MAX = 2
const ACCOUNT_COMPARISONS_MAX = 1_000
/** Terminating a thread is expensive, so a comparison that timed out is not repeated for a while. */
const SLOW_PATTERNS_MAX = 1_000
const SLOW_MS = 5 * 60_000

const pool = new ThreadPool<Comparison>({
  script: new URL('score-thread.ts', import.meta.url),
  threadsMax: THREADS_MAX,
  ownerQuestionsMax: ACCOUNT_COMPARISONS_MAX,
})
/** Until when each is not tried again. */
const slowPatterns = new BoundedMap<string, number>({ entriesMax: SLOW_PATTERNS_MAX })

/** Compares in a worker thread, with fair turns between accounts. Null if it takes too long. */
export async function compareInThread(
  comparison: Comparison,
  accountId: string,
): Promise<boolean | number | null> {
  const isPattern = comparison.type === 'regex' || comparison.type === 'json_schema'
  const flags = comparison.type === 'regex' ? comparison.flags : ''
  const name = isPattern ? `${accountId} /${comparison.value}/${flags}` : ''
  if ((slowPatterns.get(name) ?? 0) > performance.now()) return null
  const timeMsMax = isPattern ? PATTERN_MS_MAX : COMPARISON_MS_MAX
  const onTooLate = (): void => {
    if (isPattern) slowPatterns.set(name, performance.now() + SLOW_MS)
  }
  const found = await pool.ask(comparison, { owner: accountId, timeMsMax, onTooLate })
  return typeof found === 'boolean' || typeof found === 'number' ? found : null
}
