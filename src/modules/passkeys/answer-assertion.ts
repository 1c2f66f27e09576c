import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { recordChange, recordFailedSignIn, type RequestOrigin } from '../audit/audit.ts'
import { takeChallenge, type ChallengeOrder } from './challenges.ts'
import { invalidPasskey, readChallenge, type KnownCredential, type RelyingParty } from './credential.ts'
import { requireVerifiedUser, verifyAssertion } from './verify-assertion.ts'

interface AssertionAnswer<Result> {
  readonly credential: KnownCredential
  readonly relyingParty: RelyingParty
  readonly given: Pick<ChallengeOrder, 'purpose' | 'boundTo'>
  /** The only member whose passkeys count. Null: any. */
  readonly member: { readonly accountId: string; readonly userId: string } | null
  /** Where the answer comes from. */
  readonly origin: RequestOrigin
  /** What to do for the member whom the passkey proved, in the transaction that notes its use. */
  readonly proceed: (transaction: Queryable, member: ProvenMember) => Promise<Result>
}

interface ProvenMember {
  readonly accountId: string
  readonly userId: string
}

/** Checks the answer of an authenticator to a challenge. Throws the same for everything that is wrong with it. */
export async function answerAssertion<Result>(
  database: Database,
  { credential, relyingParty, given, member, origin, proceed }: AssertionAnswer<Result>,
): Promise<Result> {
  const challenge = readChallenge(credential)
  const taken = challenge === null ? null : await takeChallenge(database, challenge, given)
  if (challenge === null || taken === null) throw invalidPasskey()
  requireVerifiedUser(credential)
  const found = await findPasskey(database, credential, relyingParty)
  const isMeant =
    found !== null &&
    (member === null || (found.account_id === member.accountId && found.user_id === member.userId))
  const passkey = isMeant && found.is_usable ? found : null
  const answer = await verifyAssertion(credential, {
    challenge,
    relyingParty,
    publicKey: passkey?.public_key ?? null,
  })
  if (passkey === null || answer === null) {
    const error = invalidPasskey()
    if (found !== null) await noteFailed(database, found, { origin, error })
    throw error
  }
  // Only here, where the passkey has answered, so that nobody else learns of it.
  if (passkey.account_status !== 'active')
    throw new AppError('account_suspended', 'The account is suspended. Contact the operator.')
  const { account_id: accountId, user_id: userId } = passkey
  const done = await database.transaction(async (transaction) => {
    // In one statement, so that two copies that answer at once cannot both count.
    const counted = await transaction.query(
      `UPDATE passkeys SET counter = $2, is_synced = $3, last_used_at = now()
       WHERE id = $1 AND (counter < $2 OR counter = 0 AND $2 = 0) RETURNING id`,
      [passkey.id, answer.counter, answer.isSynced],
    )
    if (counted.length === 0) return null
    return { result: await proceed(transaction, { accountId, userId }) }
  })
  if (done !== null) return done.result
  await noteDoubt(database, passkey, origin)
  throw invalidPasskey()
}

interface FoundPasskey {
  readonly id: string
  readonly account_id: string
  readonly user_id: string
  readonly public_key: Buffer
  readonly account_status: string
  readonly is_usable: boolean
}

/** Finds the passkey that an answer names, with what the authenticator keeps beside it. */
async function findPasskey(
  queryable: Queryable,
  { id, response }: KnownCredential,
  { id: relyingPartyId }: RelyingParty,
): Promise<FoundPasskey | null> {
  const handle =
    typeof response.userHandle === 'string' ? Buffer.from(response.userHandle, 'base64url') : null
  const [row] = await queryable.query<FoundPasskey>(
    `SELECT p.id, p.account_id, p.user_id, p.public_key, a.status AS account_status,
       u.status = 'active' AND m.suspended_at IS NULL AS is_usable
     FROM passkeys p JOIN account_members m ON m.account_id = p.account_id AND m.user_id = p.user_id
       JOIN users u ON u.id = p.user_id JOIN accounts a ON a.id = p.account_id
     WHERE p.credential_id = $1 AND p.rp_id = $2 AND ($3::bytea IS NULL OR p.user_handle = $3)`,
    [Buffer.from(id, 'base64url'), relyingPartyId, handle],
  )
  return row ?? null
}

/** The answer to the client stays what it is if the entry cannot be written. */
async function noteFailed(
  database: Database,
  { id, account_id: accountId }: FoundPasskey,
  { origin, error }: { origin: RequestOrigin; error: AppError },
): Promise<void> {
  const failed = { accountId, projectId: null, resourceId: id, origin, error }
  await recordFailedSignIn(database, failed).catch(() => undefined)
}

/** Its counter went back: an older state of the device, or a copy of the passkey, has answered. */
async function noteDoubt(database: Database, passkey: FoundPasskey, origin: RequestOrigin): Promise<void> {
  const { id, account_id: accountId } = passkey
  await database.transaction(async (transaction) => {
    await transaction.query('UPDATE passkeys SET doubted_at = now() WHERE id = $1', [id])
    await recordChange(transaction, {
      actor: { accountId, keyId: null, name: 'Sign-in', origin },
      type: 'passkey.doubted',
      projectId: null,
      resourceId: id,
      details: {
        data: { reason: 'The counter of the device went back. Somebody may have a copy of the passkey.' },
      },
    })
  })
}
