import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../keys/keys.ts'
import type { Limits } from '../limits/limits.ts'
import { asRefusal } from './batch-caller.ts'
import { LineThrottle } from './line-throttle.ts'

/** A key that is refused asks nothing: the first line tells it. */
export async function createThrottle(
  readCaller: () => Promise<Caller>,
  limits: Pick<Limits, 'describe'>,
): Promise<LineThrottle> {
  const caller = await readCaller().catch(asRefusal)
  if (caller instanceof AppError) return new LineThrottle(1)
  return new LineThrottle((await limits.describe(caller)).concurrentRequests)
}
