import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import { hasWayToSignIn } from '../sessions/sessions.ts'
import { PASSKEY_COLUMNS, passkeyFromRow, type Passkey, type PasskeyRow } from './passkey-record.ts'

interface Member {
  readonly accountId: string
  readonly userId: string
}

export async function listPasskeys(queryable: Queryable, { accountId, userId }: Member): Promise<Passkey[]> {
  const rows = await queryable.query<PasskeyRow>(
    `SELECT ${PASSKEY_COLUMNS} FROM passkeys WHERE account_id = $1 AND user_id = $2 ORDER BY id`,
    [accountId, userId],
  )
  return rows.map(passkeyFromRow)
}

interface PasskeyChange extends Member {
  readonly caller: Caller
  readonly passkeyId: string
}

export async function renamePasskey(
  database: Database,
  { accountId, userId, caller, passkeyId, name }: PasskeyChange & { name: string },
): Promise<Passkey> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<PasskeyRow>(
      `UPDATE passkeys SET name = $4 WHERE id = $3 AND account_id = $1 AND user_id = $2 RETURNING ${PASSKEY_COLUMNS}`,
      [accountId, userId, passkeyId, name],
    )
    if (row === undefined) throw notFound('passkey')
    await recordChange(transaction, {
      actor: caller,
      type: 'passkey.updated',
      projectId: null,
      resourceId: row.id,
      details: { changes_requested: { name } },
    })
    return passkeyFromRow(row)
  })
}

export async function removePasskey(
  database: Database,
  { accountId, userId, caller, passkeyId, evenIfLast }: PasskeyChange & { evenIfLast: boolean },
): Promise<Passkey> {
  return database.transaction(async (transaction) => {
    // Two removals at once must not each take the other for the way that is left.
    await transaction.query('SELECT FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE', [
      accountId,
      userId,
    ])
    const [row] = await transaction.query<PasskeyRow>(
      `DELETE FROM passkeys WHERE id = $3 AND account_id = $1 AND user_id = $2 RETURNING ${PASSKEY_COLUMNS}`,
      [accountId, userId, passkeyId],
    )
    if (row === undefined) throw notFound('passkey')
    if (!evenIfLast && !(await hasWayToSignIn(transaction, { accountId, userId })))
      throw new AppError('conflict', LAST)
    await recordChange(transaction, {
      actor: caller,
      type: 'passkey.deleted',
      projectId: null,
      resourceId: row.id,
      details: { data: { name: row.name } },
    })
    return passkeyFromRow(row)
  })
}

const LAST =
  'This is the last passkey, and there is no key of your own and no directory to sign in with: you could not come back without a link ' +
  'from whoever manages the members. Send `even_if_last=true` to remove it all the same.'
