import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { refuseAccessToken, type Caller } from '../modules/keys/keys.ts'
import { requireAccess, type Access } from './access.ts'
import { originOf, type AddressFinder } from './connections/origin-of.ts'
import type { RequestMessage } from './message.ts'

const BEARER_PATTERN = /^Bearer +(\S+)$/i
const USUAL_START = 'Bearer '

/** Returns the caller of a request's key. Returns it without a promise for a known key, so that the hot path does not wait. */
export type Authenticate = (incoming: RequestMessage) => Caller | Promise<Caller>

/** Returns the error for a session whose person has to prove again who they are. */
export type ConfirmationRequired = (caller: Caller, headers: FastifyRequest['headers']) => Promise<AppError>

/** Runs before the body is read, so that unauthenticated requests are not parsed. */
export function authenticateHook(
  guard: { readonly authenticate: Authenticate } & AddressFinder,
  access: Access,
  confirmationRequired: ConfirmationRequired | null,
): onRequestAsyncHookHandler {
  return async (request) => {
    const caller = await guard.authenticate(request.raw)
    requireAccess(caller, access)
    if (confirmationRequired !== null) {
      refuseAccessToken(caller)
      if (caller.session?.isConfirmed === false) throw await confirmationRequired(caller, request.headers)
    }
    request.exchange.caller = isReading(request.raw)
      ? caller
      : { ...caller, origin: originOf(request.raw, guard) }
    request.exchange.access = access
  }
}

function isReading({ method }: RequestMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Reads the key from the header that clients of OpenAI, Anthropic or Azure use. */
export function readToken(headers: RequestMessage['headers']): string {
  const { authorization: header } = headers
  if (header === undefined) {
    const key = headers['x-api-key'] ?? headers['api-key']
    if (typeof key === 'string') return key.trim()
  }
  // The key's format is checked later.
  if (header?.startsWith(USUAL_START)) return header.slice(USUAL_START.length).trim()
  const token = header === undefined ? undefined : BEARER_PATTERN.exec(header)?.[1]
  if (token !== undefined) return token
  const message =
    header === undefined
      ? 'No API key given. Send it as `Authorization: Bearer pk-<env>-<key>` or `x-api-key: pk-<env>-<key>`.'
      : 'The Authorization header must have the form `Bearer pk-<env>-<key>`.'
  throw new AppError('invalid_api_key', message)
}
