import type { RequestOrigin } from '../../modules/audit/audit.ts'
import type { RequestMessage } from '../message.ts'

export interface AddressFinder {
  readonly addressOf: (incoming: RequestMessage) => string
}

const USER_AGENT_LENGTH_MAX = 300

/** Returns where a request comes from: the program as it names itself, within a limit, and its address. */
export function originOf(incoming: RequestMessage, { addressOf }: AddressFinder): RequestOrigin {
  const userAgent = (incoming.headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH_MAX)
  return { userAgent, ipAddress: addressOf(incoming) }
}
