import { createHash } from 'node:crypto'

/** What makes an error the same as another one. */
export interface ErrorIdentity {
  readonly outcome: string
  readonly httpStatus: number
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly upstreamStatus: number | null
  readonly upstreamCode: string | null
  readonly upstreamMessage: string | null
}

const KEY_LENGTH = 16

/** Returns a short text that is equal for errors that differ only in names, numbers and ids of their messages. */
export function errorKeyOf(error: ErrorIdentity): string {
  const { outcome, httpStatus, errorCode, upstreamStatus, upstreamCode } = error
  const said = generalise(error.upstreamMessage ?? error.errorMessage ?? '')
  const identity = [outcome, httpStatus, errorCode, upstreamStatus, upstreamCode, said]
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, KEY_LENGTH)
}

const LENGTH_MAX = 200

/** Replaces what differs between two occurrences of one error. */
export function generalise(message: string): string {
  return message
    .slice(0, LENGTH_MAX * 5)
    .replaceAll(/(['"`])[^'"`]{0,200}\1/g, '…')
    .split(' ')
    .map((word) => (/\d/.test(word) ? '#' : word))
    .join(' ')
    .slice(0, LENGTH_MAX)
}
