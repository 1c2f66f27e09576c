import { DatabaseError } from 'pg'
import { errorCodeOf, StorageError } from '../storage-error.ts'

/** Codes with which PostgreSQL announces the end of a session. */
const SESSION_END_CODES = new Set(['57P01', '57P02', '57P03', '57P05', '25P03'])
/** The server has become a standby, so the session is useless. */
const READ_ONLY_CODE = '25006'

/** Returns whether the connection is unusable after this error. It stays usable after an ordinary SQL error. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    const code = error.code ?? ''
    return SESSION_END_CODES.has(code) || code === READ_ONLY_CODE || code.startsWith('08')
  }
  return !(error instanceof StorageError) && isDriverError(error)
}

const PASSING_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EAGAIN',
  '57P01',
  '57P02',
  '57P03',
  '53300',
])

/** Temporary, because a standby may be promoted or another host may take over. */
const PASSING_FAILURES = new Set(['read_only_server', 'unreachable_database'])

/** Returns whether the refusal of a new connection is temporary: the server restarts, recovers, or has too many connections. */
export function isPassingRefusal(error: unknown): boolean {
  if (error instanceof StorageError) return PASSING_FAILURES.has(error.code)
  const code = errorCodeOf(error)
  if (code !== null) return PASSING_CODES.has(code)
  return error instanceof Error && error.message.startsWith('Connection terminated')
}

// The driver has no error class of its own. It throws system errors or errors with one of these messages.
const DRIVER_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout)/
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

function isDriverError(error: unknown): boolean {
  if (SOCKET_CODES.has(errorCodeOf(error) ?? '')) return true
  return error instanceof Error && DRIVER_MESSAGE.test(error.message)
}
