import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'

/** How a session begins. */
export type SignInMethod = 'key' | 'link' | 'invitation' | 'directory' | 'passkey'

/** The ways to sign in that an account can choose among. */
export const POLICY_METHODS = ['directory', 'passkey', 'key'] as const
type PolicyMethod = (typeof POLICY_METHODS)[number]

/** Links of invitations and for recovery lead to a passkey, so they are allowed together with passkeys. */
const METHOD_OF: Readonly<Record<SignInMethod, PolicyMethod>> = {
  directory: 'directory',
  passkey: 'passkey',
  invitation: 'passkey',
  link: 'passkey',
  key: 'key',
}

export interface SignInPolicy {
  /** In which ways sessions of the account begin. */
  readonly methods: readonly PolicyMethod[]
  /** Active members who can sign in by none of them. */
  readonly lockedOutMembers: number
}

/** Throws unless sessions of the account may begin so. The one-time link of the command line is not asked: it opens every account of an operator. */
export async function requireAllowedMethod(
  queryable: Queryable,
  accountId: string,
  method: SignInMethod,
): Promise<void> {
  const methods = await readMethods(queryable, accountId)
  if (methods.includes(METHOD_OF[method])) return
  const message = `This account lets people in by ${methods.map((name) => NAMES[name]).join(' or ')} only.`
  throw new AppError('forbidden', message)
}

/** Whether people of the account may sign in with a provider. */
export async function allowsDirectory(queryable: Queryable, accountId: string): Promise<boolean> {
  return (await readMethods(queryable, accountId)).includes('directory')
}

const NAMES: Readonly<Record<PolicyMethod, string>> = {
  directory: 'the company’s sign-in',
  passkey: 'passkeys',
  key: 'API keys',
}

export async function readPolicy(queryable: Queryable, accountId: string): Promise<SignInPolicy> {
  const methods = await readMethods(queryable, accountId)
  const [row] = await queryable.query<{ count: bigint }>(
    `SELECT count(*) AS count FROM account_members m JOIN users u ON u.id = m.user_id
     WHERE m.account_id = $1 AND ${IS_ACTIVE} AND NOT (${HAS_WAY})`,
    [accountId, methods],
  )
  return { methods, lockedOutMembers: Number(row?.count ?? 0) }
}

export interface PolicyChange {
  readonly methods: readonly PolicyMethod[]
  readonly evenIfLockedOut: boolean
}

/** Sets the ways, and ends the sessions that began in another one, but for that of the caller. Throws if no owner could come in any more. */
export async function setPolicy(
  database: Database,
  caller: Caller,
  { methods: given, evenIfLockedOut }: PolicyChange,
): Promise<SignInPolicy> {
  const { accountId } = caller
  const methods = POLICY_METHODS.filter((name) => given.includes(name))
  await database.transaction(async (transaction) => {
    await transaction.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId])
    if (!evenIfLockedOut && !(await hasOwnerWithWay(transaction, accountId, methods)))
      throw new AppError('conflict', LOCKED_OUT)
    await transaction.query(
      `INSERT INTO sign_in_policies (account_id, methods, updated_at) VALUES ($1, $2, now())
       ON CONFLICT (account_id) DO UPDATE SET methods = excluded.methods, updated_at = excluded.updated_at`,
      [accountId, methods],
    )
    const forbidden = Object.entries(METHOD_OF).filter(([, name]) => !methods.includes(name))
    await transaction.query(
      `DELETE FROM sessions s USING api_keys k WHERE k.id = s.key_id AND s.account_id = $1 AND s.method = ANY ($2)
         AND s.id IS DISTINCT FROM $3 AND (s.method <> 'link' OR k.user_id IS NOT NULL)`,
      [accountId, forbidden.map(([name]) => name), caller.session?.id ?? null],
    )
    await recordChange(transaction, {
      actor: caller,
      type: 'sign_in_policy.updated',
      projectId: null,
      resourceId: wireId('organization', accountId),
      details: { changes_requested: { methods } },
    })
  })
  return readPolicy(database, accountId)
}

const LOCKED_OUT =
  'No owner of the account could sign in any more: none has a passkey, a sign-in of an enabled provider or a key that would count. Give an owner one ' +
  'first, or send `even_if_locked_out`: then only the link of the command line (`parkway sign-in-link`) or a key of the account changes it back.'

async function readMethods(queryable: Queryable, accountId: string): Promise<readonly PolicyMethod[]> {
  const [row] = await queryable.query<{ methods: PolicyMethod[] }>(
    'SELECT methods FROM sign_in_policies WHERE account_id = $1',
    [accountId],
  )
  return row?.methods ?? POLICY_METHODS
}

const IS_ACTIVE = `u.status = 'active' AND m.suspended_at IS NULL`
/** Of member m, by the ways $2. */
const HAS_WAY = `
  'passkey' = ANY ($2) AND EXISTS (SELECT FROM passkeys p WHERE p.account_id = m.account_id AND p.user_id = m.user_id)
  OR 'directory' = ANY ($2) AND EXISTS (SELECT FROM identities i JOIN identity_providers d ON d.id = i.provider_id
    WHERE i.account_id = m.account_id AND i.user_id = m.user_id AND d.is_enabled)
  OR 'key' = ANY ($2) AND EXISTS (SELECT FROM api_keys k WHERE k.account_id = m.account_id AND k.user_id = m.user_id
    AND NOT k.is_of_sessions AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()))`

/** An account without people has keys only, and one with a key of the account itself is not locked out while keys count. */
async function hasOwnerWithWay(
  queryable: Queryable,
  accountId: string,
  methods: readonly PolicyMethod[],
): Promise<boolean> {
  const [row] = await queryable.query<{ has_way: boolean }>(
    `SELECT EXISTS (SELECT FROM account_members m JOIN users u ON u.id = m.user_id
         WHERE m.account_id = $1 AND m.role = 'owner' AND ${IS_ACTIVE} AND (${HAS_WAY}))
       OR 'key' = ANY ($2) AND EXISTS (SELECT FROM api_keys k WHERE k.account_id = $1 AND k.user_id IS NULL
         AND k.service_account_id IS NULL AND k.project_id IS NULL AND NOT k.is_of_sessions AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > now())) AS has_way`,
    [accountId, methods],
  )
  return row?.has_way === true
}
