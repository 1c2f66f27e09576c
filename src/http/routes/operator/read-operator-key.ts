import { invalidValue } from '../../../kernel/app-error.ts'
import type { RouteRequest } from '../../route.ts'

const IDEMPOTENCY_KEY_LENGTH_MAX = 255

/** Reads the `Idempotency-Key` of an operator's change of credit, which holds for good. */
export function readOperatorKey(
  operatorAccountId: string,
  headers: RouteRequest<unknown, unknown, unknown>['headers'],
): { operatorAccountId: string; key: string } | null {
  const key = headers['idempotency-key']?.toString() ?? ''
  if (key === '') return null
  if (key.length > IDEMPOTENCY_KEY_LENGTH_MAX) {
    throw invalidValue(
      'Idempotency-Key',
      `Idempotency-Key must have at most ${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`,
    )
  }
  return { operatorAccountId, key }
}
