import { AppError } from '../../kernel/app-error.ts'

interface ConcurrencyLimits {
  readonly runningMax: number
  readonly waitingMax: number
}

/** Limits concurrency: runs up to `runningMax`, queues up to `waitingMax`, and refuses the rest. */
export function limitConcurrency({
  runningMax,
  waitingMax,
}: ConcurrencyLimits): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running >= runningMax) {
      if (waiting.length >= waitingMax) throw tooMany()
      // The finished work passes its slot to the next waiter, so the count stays the same.
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
    } else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

function tooMany(): AppError {
  return new AppError('service_unavailable', 'Too many requests with an Idempotency-Key at once.', {
    retryAfterSeconds: 1,
  })
}
