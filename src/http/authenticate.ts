import type { onRequestHookHandler } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import type { Caller, Scope } from '../modules/keys/keys.ts'

const BEARER_PATTERN = /^Bearer +(\S+)$/i

/** Looks a key up. At once for one that is known, so that the hot path waits for nothing. */
export type Authenticate = (token: string) => Caller | Promise<Caller>

/** Runs before the body is read: a stranger costs no parsing. */
export function authenticateHook(authenticate: Authenticate, scope: Scope | 'any'): onRequestHookHandler {
  return async (request) => {
    const caller = await authenticate(readToken(request.headers.authorization))
    requireScope(caller, scope)
    request.exchange.caller = caller
  }
}

export function readToken(header: string | undefined): string {
  const token = header === undefined ? undefined : BEARER_PATTERN.exec(header)?.[1]
  if (token !== undefined) return token
  const message =
    header === undefined
      ? 'No API key given. Send it as `Authorization: Bearer pk-<env>-<key>`.'
      : 'The Authorization header must have the form `Bearer pk-<env>-<key>`.'
  throw new AppError('invalid_api_key', message)
}

export function requireScope(caller: Caller, scope: Scope | 'any'): void {
  if (scope === 'any' || caller.scopes.has(scope)) return
  throw new AppError('forbidden', `This route needs a key with the scope '${scope}'.`)
}
