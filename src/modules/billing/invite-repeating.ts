import { AppError } from '../../kernel/app-error.ts'
import type { OperatorKey } from './refund-request-record.ts'

/**
 * Marks an error with an unknown outcome as safe to retry if the operator sent an idempotency key, because the key moves money at
 * most once.
 */
export async function inviteRepeating<Result>(
  idempotencyKey: OperatorKey | null,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (idempotencyKey === null || !(error instanceof AppError) || !error.mayBeDone) throw error
    throw new AppError(error.code, error.message, { mayBeDone: true, isOnceByRequestId: true, cause: error })
  }
}
