import { invalidValue } from '../../../kernel/app-error.ts'

/** Throws for the end of a key that is not in the future. */
export function requireFutureExpiry(expiresAtMs: number | null | undefined, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs === undefined || expiresAtMs > nowMs) return
  throw invalidValue('expires_at', 'expires_at must be in the future. To stop a key now, revoke it.')
}
