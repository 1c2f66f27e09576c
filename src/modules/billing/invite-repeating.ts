import { AppError } from '../../kernel/app-error.ts'
import type { OperatorKey } from './refund-request-record.ts'

/** What has a key moves money once, however often it is sent: when in doubt, the operator sends it again. */
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
