import { uuidOfRequest } from '../../kernel/identifiers.ts'

const PREFIX = 'resp_'
const RESPONSE_ID = /^resp_([0-9a-f]{32})$/

/** Derives the response id from the request id, so that a repeated request with the same id gives the same response id. */
export function responseIdOf(requestId: string): string {
  return PREFIX + uuidOfRequest(requestId)
}

/** Returns null if it is not a response id of this gateway. */
export function requestIdOf(responseId: string): string | null {
  const digits = RESPONSE_ID.exec(responseId)?.[1]
  return digits === undefined ? null : `req_${digits}`
}
