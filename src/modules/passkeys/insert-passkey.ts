import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import { PASSKEY_COLUMNS, passkeyFromRow, type Passkey, type PasskeyRow } from './passkey-record.ts'
import type { VerifiedRegistration } from './verify-registration.ts'

interface NewPasskey extends VerifiedRegistration {
  readonly accountId: string
  readonly userId: string
  readonly userHandle: Buffer
  readonly relyingPartyId: string
  readonly name: string
  readonly actor: AccountChange['actor']
}

const PASSKEYS_MAX = 20

/** Stores a passkey of a member. Throws if the member has too many, or if it is registered already. */
export async function insertPasskey(transaction: Queryable, passkey: NewPasskey): Promise<Passkey> {
  const { accountId, userId, actor, name } = passkey
  // Two registrations at once must not both take the last place.
  await transaction.query('SELECT FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE', [
    accountId,
    userId,
  ])
  const [count] = await transaction.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM passkeys WHERE account_id = $1 AND user_id = $2',
    [accountId, userId],
  )
  if (Number(count?.total ?? 0) >= PASSKEYS_MAX)
    throw new AppError(
      'conflict',
      `A person has at most ${PASSKEYS_MAX} passkeys in an account. Remove one first.`,
    )
  const [row] = await transaction.query<PasskeyRow>(
    `INSERT INTO passkeys (id, account_id, user_id, credential_id, public_key, user_handle, rp_id, counter, transports, is_synced, name)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (credential_id) DO NOTHING RETURNING ${PASSKEY_COLUMNS}`,
    [
      createId(),
      accountId,
      userId,
      passkey.credentialId,
      passkey.publicKey,
      passkey.userHandle,
      passkey.relyingPartyId,
      passkey.counter,
      passkey.transports,
      passkey.isSynced,
      name,
    ],
  )
  if (row === undefined) throw new AppError('conflict', 'This passkey is registered already.')
  await recordChange(transaction, {
    actor,
    type: 'passkey.created',
    projectId: null,
    resourceId: row.id,
    details: { data: { name } },
  })
  return passkeyFromRow(row)
}
