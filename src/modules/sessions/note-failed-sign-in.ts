import { AppError } from '../../kernel/app-error.ts'
import type { Database } from '../../storage/database.ts'
import { recordFailedSignIn, type FailedSignIn, type RequestOrigin } from '../audit/audit.ts'
import { findFormerKey, type Caller } from '../keys/keys.ts'
import { findKeyOfCode } from './sign-in-codes.ts'

/** What somebody tried to sign in with, or the session that they could not confirm. */
export type FailedAttempt =
  | { readonly key: string; readonly origin: RequestOrigin }
  | { readonly code: string; readonly origin: RequestOrigin }
  | { readonly caller: Caller; readonly origin: RequestOrigin }

/** Not for outages, nor for addresses that have to wait. */
const NOTED: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'invalid_sign_in_code',
  'account_suspended',
  'forbidden',
])

/** Writes `login.failed` to the audit log of the account whose key, code or session it is. A guess is of no account. */
export async function noteFailedSignIn(
  database: Database,
  attempt: FailedAttempt,
  error: unknown,
): Promise<void> {
  if (!(error instanceof AppError) || !NOTED.has(error.code)) return
  const account = await accountOf(database, attempt)
  if (account === null) return
  await recordFailedSignIn(database, { ...account, origin: attempt.origin, error })
}

async function accountOf(
  database: Database,
  attempt: FailedAttempt,
): Promise<Omit<FailedSignIn, 'origin' | 'error'> | null> {
  if ('caller' in attempt) {
    const { caller } = attempt
    const { accountId, projectId, session, keyId } = caller
    return { accountId, projectId, resourceId: session?.id ?? keyId, actor: caller }
  }
  const known =
    'key' in attempt
      ? await findFormerKey(database, attempt.key)
      : await findKeyOfCode(database, attempt.code)
  return known && { accountId: known.accountId, projectId: known.projectId, resourceId: known.keyId }
}
