import { ThreadPool } from '../../kernel/thread-pool.ts'
import type { Comparison } from './compare-output.ts'

/** A pattern that goes back and forth for longer is given up. */
const PATTERN_MS_MAX = 500
/** Far more than the longest answers take: nothing but a pattern takes more time than its text is long. */
const COMPARISON_MS_MAX = 30_000
const THREADS_MAX = 2
const ACCOUNT_COMPARISONS_MAX = 1_000
/** Threads that are thrown away cost time: what was too slow for an account once is not tried again for a while. */
const SLOW_PATTERNS_MAX = 1_000

const pool = new ThreadPool<Comparison>({
  script: new URL('score-thread.ts', import.meta.url),
  threadsMax: THREADS_MAX,
  ownerQuestionsMax: ACCOUNT_COMPARISONS_MAX,
})
const slowPatterns = new Set<string>()

/** Compares away from the thread that serves requests, accounts in turns. Null when it takes too long. */
export async function compareInThread(comparison: Comparison, accountId: string): Promise<boolean | null> {
  const isPattern = comparison.type === 'regex'
  const name = isPattern ? `${accountId} /${comparison.value}/${comparison.flags}` : ''
  if (slowPatterns.has(name)) return null
  const timeMsMax = isPattern ? PATTERN_MS_MAX : COMPARISON_MS_MAX
  const isFound = await pool.ask(comparison, { owner: accountId, timeMsMax })
  if (typeof isFound === 'boolean') return isFound
  if (slowPatterns.size >= SLOW_PATTERNS_MAX) slowPatterns.clear()
  if (isPattern) slowPatterns.add(name)
  return null
}
