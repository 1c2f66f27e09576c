import { uuidOfRequest } from '../../kernel/identifiers.ts'

const PREFIX = 'resp_'
const RESPONSE_ID = /^resp_([0-9a-f]{32})$/

/** A response is known by the digits of its request: a request that is done again under its id makes the same response. */
export function responseIdOf(requestId: string): string {
  return PREFIX + uuidOfRequest(requestId)
}

/** Null for what is not an id of a response of this gateway. */
export function requestIdOf(responseId: string): string | null {
  const digits = RESPONSE_ID.exec(responseId)?.[1]
  return digits === undefined ? null : `req_${digits}`
}
