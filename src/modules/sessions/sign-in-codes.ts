import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { findOperatorKey } from '../keys/keys.ts'
import { createSessionToken, hashSessionToken } from './session-token.ts'

const LIFE = `interval '1 hour'`

/**
 * Creates a code that signs in once, with the first key of the operator's account that can administer the gateway. It replaces
 * the unused codes of that account. Returns null if there is no such key.
 */
export async function createSignInCode(database: Database): Promise<string | null> {
  const key = await findOperatorKey(database)
  if (key === null) return null
  const code = createSessionToken()
  await database.transaction(async (transaction) => {
    await transaction.query('DELETE FROM sign_in_codes WHERE account_id = $1', [key.accountId])
    await transaction.query(
      `INSERT INTO sign_in_codes (code_hash, account_id, key_id, expires_at) VALUES ($1, $2, $3, now() + ${LIFE})`,
      [hashSessionToken(code), key.accountId, key.keyId],
    )
  })
  return code
}

interface KeyOfCode {
  readonly accountId: string
  readonly keyId: string
}

/** Returns the key that a code stands for. Throws if the code is unknown, used or expired. */
export function readSignInCode(queryable: Queryable, code: string): Promise<KeyOfCode> {
  return findCode(queryable, code, `SELECT account_id, key_id FROM sign_in_codes WHERE ${IS_THIS}`)
}

/** Uses a code up. Throws if another request has used it. */
export function redeemSignInCode(queryable: Queryable, code: string): Promise<KeyOfCode> {
  return findCode(queryable, code, `DELETE FROM sign_in_codes WHERE ${IS_THIS} RETURNING account_id, key_id`)
}

/** Returns whose code this is, also if it has expired. Never use it to let somebody in. */
export async function findKeyOfCode(
  queryable: Queryable,
  code: string,
): Promise<(KeyOfCode & { readonly projectId: string | null }) | null> {
  const codeHash = hashSessionToken(code)
  if (codeHash === null) return null
  const [row] = await queryable.query<{ account_id: string; key_id: string; project_id: string | null }>(
    `SELECT c.account_id, c.key_id, k.project_id FROM sign_in_codes c JOIN api_keys k ON k.id = c.key_id WHERE c.code_hash = $1`,
    [codeHash],
  )
  return row === undefined
    ? null
    : { accountId: row.account_id, keyId: row.key_id, projectId: row.project_id }
}

const IS_THIS = 'code_hash = $1 AND expires_at > now()'

async function findCode(queryable: Queryable, code: string, statement: string): Promise<KeyOfCode> {
  const codeHash = hashSessionToken(code)
  if (codeHash === null) throw invalidCode()
  const [row] = await queryable.query<{ account_id: string; key_id: string }>(statement, [codeHash])
  if (row === undefined) throw invalidCode()
  return { accountId: row.account_id, keyId: row.key_id }
}

export async function sweepSignInCodes(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM sign_in_codes WHERE expires_at <= now()')
}

/** The same for every reason, so that the answer tells nothing about codes. */
export function invalidCode(): AppError {
  const message =
    'This sign-in link has been used or has expired. `npx parkway sign-in-link` makes another; an API key signs in too.'
  return new AppError('invalid_sign_in_code', message, { param: 'code' })
}
