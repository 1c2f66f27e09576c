import { AppError } from '../../../kernel/app-error.ts'
import { isConnectionLoss } from '../../../storage/connection/connection-loss.ts'
import { isBeyondLimit } from '../../../storage/partitions/move-table.ts'
import { errorCodeOf, StorageError } from '../../../storage/storage-error.ts'

/** The connection broke during the commit, so the outcome is unknown. */
export function isOutcomeLost(error: unknown): boolean {
  // The AppError is for the client; its cause says what happened to the statement.
  return isConnectionLoss(error instanceof AppError ? error.cause : error)
}

/** The database is unavailable or overloaded; nothing was sent, or everything was rolled back. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'service_unavailable'
  if (error instanceof StorageError) return error.code === 'unreachable_database'
  const code = errorCodeOf(error) ?? ''
  return PASSING_CODES.has(code) || code.startsWith(RESOURCES_CLASS) || isPoolBusy(error)
}

/** A charge that could not be posted. */
class BadCharge extends Error {
  override readonly name = 'BadCharge'
}

export function badCharge(message: string): Error {
  return new BadCharge(message)
}

/** The data is invalid: refused here before sending, or by the database, which rolled back. */
export function isBadData(error: unknown): boolean {
  if (isBeyondLimit(error)) return false
  return error instanceof BadCharge || /^2[23]/.test(errorCodeOf(error) ?? '')
}

/** A statement timeout, a serialisation failure, a deadlock. */
const PASSING_CODES = new Set(['57014', '40001', '40P01'])
/** The server is out of memory, space or connections. */
const RESOURCES_CLASS = '53'

function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** The error for an unsent answer whose charge was not written. */
export function databaseAway(): AppError {
  const message = 'The answer could not be charged, because the database is away. Nothing was charged.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: 2 })
}

/** The error for a delivered answer, which is charged as soon as possible. */
export function chargeUnconfirmed(cause: unknown): AppError {
  const message =
    'The answer is complete, but its charge could not be confirmed and may still be made. Look for the request_id of this ' +
    'error in GET /v1/usage/records before sending it again. Only with an Idempotency-Key is sending it again safe.'
  return new AppError('service_unavailable', message, { mayBeDone: true, isOnceByRequestId: true, cause })
}

/** The error for an unsent answer whose commit has an unknown outcome. */
export function commitInDoubt(): AppError {
  const message =
    'The answer was made, but whether it was charged is not known, because the database went away meanwhile; it may have been, and the ' +
    'answer is not sent. Look for the request_id of this error in GET /v1/usage/records before sending it again. Only with an ' +
    'Idempotency-Key is sending it again safe.'
  return new AppError('service_unavailable', message, { mayBeDone: true, isOnceByRequestId: true })
}

export function leasesLost(): AppError {
  const message =
    'The answer could not be charged, because this process lost its credit. Nothing was charged.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
}
