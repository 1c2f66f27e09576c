import { AppError } from '../../kernel/app-error.ts'

const TESTS_PER_MINUTE_MAX = 10
const MINUTE_MS = 60_000

/** Each process has its own count. A test calls a vendor, which bills the operator. */
export function createTestTurns(): () => void {
  const startedMs: number[] = []
  return () => {
    const nowMs = performance.now()
    while ((startedMs[0] ?? Infinity) <= nowMs - MINUTE_MS) startedMs.shift()
    const [oldest] = startedMs
    if (oldest !== undefined && startedMs.length >= TESTS_PER_MINUTE_MAX) {
      const retryAfterSeconds = Math.ceil((oldest + MINUTE_MS - nowMs) / 1000)
      const message = `At most ${TESTS_PER_MINUTE_MAX} test calls a minute. Try again in ${retryAfterSeconds} s.`
      throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds })
    }
    startedMs.push(nowMs)
  }
}
