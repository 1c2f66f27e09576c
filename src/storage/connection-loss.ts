import { DatabaseError } from 'pg'
import { errorCodeOf, StorageError } from './storage-error.ts'

/** Ends of a session that PostgreSQL announces before it closes the connection. */
const SESSION_END_CODES = new Set(['57P01', '57P02', '57P03', '57P05', '25P03'])
/** The server has become a standby: the session can be used for nothing any more. */
const READ_ONLY_CODE = '25006'

/** Whether the connection an error came from is unusable now. An ordinary SQL error leaves it as good as before. */
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

/** A standby may be promoted, or another host take over. */
const PASSING_FAILURES = new Set(['read_only_server', 'unreachable_database'])

/** Refusals of a new connection that end by themselves: the server restarts, recovers or is full for the moment. */
export function isPassingRefusal(error: unknown): boolean {
  if (error instanceof StorageError) return PASSING_FAILURES.has(error.code)
  const code = errorCodeOf(error)
  if (code !== null) return PASSING_CODES.has(code)
  return error instanceof Error && error.message.startsWith('Connection terminated')
}

// The driver has no class for its own failures; what it throws is a system error or one of these sentences.
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
