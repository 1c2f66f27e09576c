import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import { hasWayToSignIn } from '../sessions/sessions.ts'

/** Who a member is at a provider. A member has at most one identity at each provider. */
export interface Identity {
  readonly providerId: string
  readonly providerName: string
  readonly issuer: string
  /** Whether the provider signs people in at the moment. */
  readonly isEnabled: boolean
  /** As the provider said it last. */
  readonly email: string | null
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
}

interface Member {
  readonly accountId: string
  readonly userId: string
}

const SELECT_IDENTITY = `
  SELECT i.provider_id, p.name AS provider_name, p.issuer, p.is_enabled, i.email, i.created_at, i.last_used_at
  FROM identities i JOIN identity_providers p ON p.id = i.provider_id`
const LISTED_MAX = 200

/** Returns those of a member, the oldest first. Throws `not_found` if there is no such member. */
export async function listIdentities(
  queryable: Queryable,
  { accountId, userId }: Member,
): Promise<Identity[]> {
  const members = isUuid(userId)
    ? await queryable.query('SELECT FROM account_members WHERE account_id = $1 AND user_id = $2', [
        accountId,
        userId,
      ])
    : []
  if (members.length === 0) throw notFound('user')
  const rows = await queryable.query<IdentityRow>(
    `${SELECT_IDENTITY} WHERE i.account_id = $1 AND i.user_id = $2 ORDER BY i.created_at, i.provider_id LIMIT ${LISTED_MAX}`,
    [accountId, userId],
  )
  return rows.map(identityFromRow)
}

export async function readIdentity(
  queryable: Queryable,
  { accountId, userId, providerId }: Member & { readonly providerId: string },
): Promise<Identity | null> {
  const [row] = await queryable.query<IdentityRow>(
    `${SELECT_IDENTITY} WHERE i.account_id = $1 AND i.user_id = $2 AND i.provider_id = $3`,
    [accountId, userId, providerId],
  )
  return row === undefined ? null : identityFromRow(row)
}

export interface IdentityRemoval {
  readonly caller: Caller
  readonly userId: string
  readonly providerId: string
  readonly evenIfLast: boolean
}

/** Removes an identity and ends the sessions that began with it. The provider signs this person in no more. */
export async function removeIdentity(
  database: Database,
  { caller, userId, providerId, evenIfLast }: IdentityRemoval,
): Promise<Identity> {
  const { accountId } = caller
  if (!isUuid(userId) || !isUuid(providerId)) throw notFound('identity')
  return database.transaction(async (transaction) => {
    // Two removals at once must not each take the other for the way that is left.
    await transaction.query('SELECT FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE', [
      accountId,
      userId,
    ])
    const identity = await readIdentity(transaction, { accountId, userId, providerId })
    if (identity === null) throw notFound('identity')
    await transaction.query(
      'DELETE FROM identities WHERE account_id = $1 AND user_id = $2 AND provider_id = $3',
      [accountId, userId, providerId],
    )
    if (!evenIfLast && !(await hasWayToSignIn(transaction, { accountId, userId })))
      throw new AppError('conflict', LAST)
    const ended = await transaction.query<{ id: string }>(
      `DELETE FROM sessions s USING api_keys k WHERE k.id = s.key_id AND s.issuer_id = $3 AND s.account_id = $1 AND k.user_id = $2
       RETURNING s.id`,
      [accountId, userId, providerId],
    )
    await recordIdentity(transaction, caller, 'identity.deleted', { userId, identity })
    for (const { id: resourceId } of ended)
      await recordChange(transaction, {
        actor: caller,
        type: 'logout.succeeded',
        projectId: null,
        resourceId,
      })
    return identity
  })
}

const LAST =
  'This is the last way to sign in: there is no passkey, no key of the person and no other provider. Without it only a link from whoever ' +
  'manages the members lets the person in. Send `even_if_last=true` to remove it all the same.'

export async function recordIdentity(
  transaction: Queryable,
  actor: Caller,
  type: 'identity.created' | 'identity.deleted',
  { userId, identity }: { readonly userId: string; readonly identity: Identity },
): Promise<void> {
  await recordChange(transaction, {
    actor,
    type,
    projectId: null,
    resourceId: identity.providerId,
    details: { data: { user_id: userId, provider: identity.providerName, email: identity.email } },
  })
}

interface IdentityRow {
  readonly provider_id: string
  readonly provider_name: string
  readonly issuer: string
  readonly is_enabled: boolean
  readonly email: string | null
  readonly created_at: Date
  readonly last_used_at: Date
}

function identityFromRow(row: IdentityRow): Identity {
  return {
    providerId: row.provider_id,
    providerName: row.provider_name,
    issuer: row.issuer,
    isEnabled: row.is_enabled,
    email: row.email,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at.getTime(),
  }
}
