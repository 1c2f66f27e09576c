import { AppError } from '../../../kernel/app-error.ts'
import { isConnectionLoss } from '../../../storage/connection-loss.ts'
import { errorCodeOf, StorageError } from '../../../storage/storage-error.ts'

/** The connection went while the commit was under way: it may have happened or not. */
export function isOutcomeLost(error: unknown): boolean {
  // An outage comes told as what it is to a client; here it matters what happened to the statement.
  return isConnectionLoss(error instanceof AppError ? error.cause : error)
}

/** The database is away or overloaded, and nothing was sent or all of it was rolled back. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'service_unavailable'
  if (error instanceof StorageError) return error.code === 'unreachable_database'
  const code = errorCodeOf(error) ?? ''
  return PASSING_CODES.has(code) || code.startsWith(RESOURCES_CLASS) || isPoolBusy(error)
}

/** A charge that the books would not take. */
class BadCharge extends Error {
  override readonly name = 'BadCharge'
}

export function badCharge(message: string): Error {
  return new BadCharge(message)
}

/** The data is refused: here before it was sent, or by the database, which undid everything. */
export function isBadData(error: unknown): boolean {
  return error instanceof BadCharge || /^2[23]/.test(errorCodeOf(error) ?? '')
}

/** A statement timeout, a serialisation failure, a deadlock. */
const PASSING_CODES = new Set(['57014', '40001', '40P01'])
/** The server is out of memory, space or connections. */
const RESOURCES_CLASS = '53'

function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** What whoever waits for a charge is told when it was not written. */
export function databaseAway(): AppError {
  const message = 'The answer could not be charged, because the database is away. Nothing was charged.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: 2 })
}

/** What a client is told that has its answer already: it is charged as soon as that is possible. */
export function chargeUnconfirmed(cause: unknown): AppError {
  const message =
    'The answer is complete, but its charge could not be confirmed and may still be made. Look for the request_id of this ' +
    'error in GET /v1/usage/records before sending it again. Only with an Idempotency-Key is sending it again safe.'
  return new AppError('service_unavailable', message, { mayBeDone: true, isOnceByRequestId: true, cause })
}

/** What a client is told whose answer waits for a commit of which nobody knows whether it was done. */
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
