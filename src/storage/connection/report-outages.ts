import type { QueryResultRow } from 'pg'
import { AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import { isPoolExhausted, mayWrite } from './connect-database.ts'
import { isConnectionLoss } from './connection-loss.ts'
import type { Database } from '../database.ts'
import { errorCodeOf, StorageError } from '../storage-error.ts'

const RETRY_AFTER_SECONDS = 2

/**
 * Wraps a database so that its outages become `service_unavailable` errors for clients. During an outage one call at a time tries
 * to connect and the others fail immediately, so that waiting requests do not pile up.
 */
export function reportOutages(database: Database, { logger }: { logger: Logger }): Database {
  let isAway = false
  let callsRunning = 0

  const watch = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (isAway && callsRunning > 0) throw unavailable('the database could not be reached a moment ago')
    callsRunning += 1
    try {
      const result = await call()
      if (isAway) logger.info({}, 'the database answers again')
      isAway = false
      return result
    } catch (error) {
      if (isUnreachable(error)) {
        if (!isAway) logger.error({ err: error }, 'the database cannot be reached')
        isAway = true
        throw unavailable(error)
      }
      if (isOutcomeUnknown(error)) throw doubtful(error)
      throw isPassing(error) ? unavailable(error) : error
    } finally {
      callsRunning -= 1
    }
  }

  return {
    query: async <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) =>
      watch(() =>
        database.query<Row>(sql, values).catch((error: unknown) => {
          throw isTimedOut(error) && !mayWrite(sql) ? tookTooLong(error) : error
        }),
      ),
    transaction: (work) => watch(() => database.transaction(work)),
    // The statements of a kept connection report their original errors, because its user must know the outcome.
    keepConnection: () => watch(() => database.keepConnection()),
    ping: () => watch(() => database.ping()),
    close: () => database.close(),
  }
}

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof StorageError &&
    ['unreachable_database', 'unsupported_server', 'read_only_server'].includes(error.code)
  )
}

/** Conflicts that remained after all retries, and statement timeouts of changes. */
const PASSING_CODES = new Set(['40001', '40P01', '57014'])
/** The server is out of memory, space or connections. */
const RESOURCES_CLASS = '53'

function isPassing(error: unknown): boolean {
  if (isConnectionLoss(error)) return true
  const code = errorCodeOf(error) ?? ''
  if (error instanceof AppError || error instanceof StorageError) return false
  return PASSING_CODES.has(code) || code.startsWith(RESOURCES_CLASS) || isPoolExhausted(error)
}

const STATEMENT_TIMEOUT = '57014'

function isTimedOut(error: unknown): boolean {
  return errorCodeOf(error) === STATEMENT_TIMEOUT
}

/** Has no retry time, because the same question would take as long again. */
function tookTooLong(cause: unknown): AppError {
  const message =
    'The database took too long to answer this and was stopped. Ask for less: a shorter time range, a smaller limit, or a filter.'
  return new AppError('service_unavailable', message, { cause })
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'outcome_unknown'
}

/** Has no retry time, because a retry could do the work twice. */
function doubtful(cause: unknown): AppError {
  const message =
    'The gateway lost its database while it saved the request, which may have been done. Look for it before sending it again.'
  return new AppError('service_unavailable', message, { mayBeDone: true, cause })
}

function unavailable(cause: unknown): AppError {
  return new AppError('service_unavailable', 'The gateway cannot reach its database. Try again shortly.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}
