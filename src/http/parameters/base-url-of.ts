import { AppError } from '../../kernel/app-error.ts'
import type { RouteRequest } from '../route.ts'

/** Returns the URL at which the client reached the gateway. Used for links if the operator has configured none. */
export function baseUrlOf(headers: RouteRequest<unknown, unknown, unknown>['headers']): string {
  const address = `http://${headers['host']?.toString() ?? ''}`
  if (!URL.canParse(address)) throw new AppError('invalid_request', 'The Host header is not an address.')
  return new URL(address).origin
}
