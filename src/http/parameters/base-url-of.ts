import { AppError } from '../../kernel/app-error.ts'
import type { RouteRequest } from '../route.ts'

/** Where the one who asks reached the gateway, for addresses in answers when the operator has told none. */
export function baseUrlOf(headers: RouteRequest<unknown, unknown, unknown>['headers']): string {
  const address = `http://${headers['host']?.toString() ?? ''}`
  if (!URL.canParse(address)) throw new AppError('invalid_request', 'The Host header is not an address.')
  return new URL(address).origin
}
