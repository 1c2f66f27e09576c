import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { acceptInviteOfEmail, enterFromDirectory, type PeopleOptions } from '../people/people.ts'
import type { SealedProvider } from './identity-provider.ts'
import type { PersonAtProvider } from './read-claims.ts'
import { SignInProblem } from './sign-in-problem.ts'

export interface EnterOptions {
  readonly accounts: Pick<Accounts, 'insert'>
  readonly keys: Pick<PeopleOptions['keys'], 'rolesOf'>
}

interface Arrival {
  readonly provider: SealedProvider
  readonly person: PersonAtProvider
  /** The account that the person asked for. Null: any. */
  readonly accountId: string | null
  readonly nowMs: number
}

export interface EnteredAccount {
  readonly accountId: string
  readonly userId: string
  readonly isNew: boolean
}

/**
 * Finds the account that a person enters with a provider, and who they are there; makes them a member where the provider's settings say so.
 * Throws a problem if no account is open to them.
 */
export async function enterAccount(
  transaction: Queryable,
  options: EnterOptions,
  arrival: Arrival,
): Promise<EnteredAccount> {
  const { provider, person, nowMs } = arrival
  // Two windows of one person must not both make them a member.
  await transaction.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('identity ' || $1 || ' ' || $2, 0))`,
    [provider.id, person.subject],
  )
  const identities = await findIdentities(transaction, provider.id, person.subject)
  const open = await listOpenAccounts(transaction, arrival, identities)
  let problem = new SignInProblem('no_account', { detail: `No account is open to ${person.email}.` })
  for (const accountId of open) {
    const identity = identities.find((known) => known.accountId === accountId)
    const entered = await enterOne(transaction, options, { ...arrival, accountId }, identity)
    if (!(entered instanceof SignInProblem)) return keepIdentity(transaction, arrival, entered)
    problem = entered
  }
  if (provider.accountRule !== 'own' || identities.length > 0 || arrival.accountId !== null) throw problem
  const { id: accountId } = await options.accounts.insert(transaction, { name: person.email, nowMs })
  return keepIdentity(transaction, arrival, await makeMember(transaction, { ...arrival, accountId }, 'owner'))
}

interface Identity {
  readonly accountId: string
  readonly userId: string
}

async function findIdentities(
  queryable: Queryable,
  providerId: string,
  subject: string,
): Promise<Identity[]> {
  const rows = await queryable.query<{ account_id: string; user_id: string }>(
    `SELECT account_id, user_id FROM identities WHERE provider_id = $1 AND subject = $2
     ORDER BY last_used_at DESC, account_id LIMIT $3`,
    [providerId, subject, ACCOUNTS_MAX],
  )
  return rows.map((row) => ({ accountId: row.account_id, userId: row.user_id }))
}

const ACCOUNTS_MAX = 100

/** Those that the person used last come first. */
async function listOpenAccounts(
  queryable: Queryable,
  { provider, person, accountId: wanted }: Arrival,
  identities: readonly Identity[],
): Promise<string[]> {
  const known = identities.map(({ accountId }) => accountId)
  const named = accountsNamedFor(provider, person)
  const isFree = provider.accountRule === 'invited' || provider.accountRule === 'own'
  const isOpen = (accountId: string): boolean => {
    if (isFree) return true
    if (named.includes(accountId)) return true
    // Which groups the person is in is not known, so what was found at an earlier sign-in stays.
    return person.areGroupsMissing && provider.accounts.some((account) => account.accountId === accountId)
  }
  const invited =
    isFree && isEmailProven(provider, person) ? await findInvitations(queryable, person.email) : []
  const all = [...new Set([...known.filter(isOpen), ...invited, ...named])]
  return wanted === null ? all : all.filter((accountId) => accountId === wanted)
}

/** Whether the provider lets the person into an account in which they have an identity. */
export async function isAccountOpen(
  queryable: Queryable,
  arrival: Arrival & { readonly accountId: string },
): Promise<boolean> {
  const { accountId } = arrival
  const open = await listOpenAccounts(queryable, arrival, [{ accountId, userId: '' }])
  return open.includes(accountId)
}

/** The accounts that the provider speaks for, for this person. */
function accountsNamedFor({ accountRule, accounts }: SealedProvider, person: PersonAtProvider): string[] {
  const matches = (match: string): boolean => {
    if (accountRule === 'group') return person.groups?.includes(match) === true
    return match === '' ? accountRule !== 'domain' : match === person.domain
  }
  return accounts.filter(({ match }) => matches(match)).map(({ accountId }) => accountId)
}

/** The provider verified the address, or the operator says that it speaks for all addresses of the domain. */
function isEmailProven(provider: SealedProvider, person: PersonAtProvider): boolean {
  return (
    person.isEmailVerified ||
    (!provider.needsVerifiedEmail && provider.allowedDomains.includes(person.domain))
  )
}

async function findInvitations(queryable: Queryable, email: string): Promise<string[]> {
  const rows = await queryable.query<{ account_id: string }>(
    `SELECT account_id FROM invites WHERE lower(email) = lower($1) AND accepted_at IS NULL AND expires_at > now()
     ORDER BY id DESC LIMIT $2`,
    [email, ACCOUNTS_MAX],
  )
  return rows.map(({ account_id: accountId }) => accountId)
}

type Entry = Arrival & { readonly accountId: string }

async function enterOne(
  transaction: Queryable,
  options: EnterOptions,
  entry: Entry,
  identity: Identity | undefined,
): Promise<EnteredAccount | SignInProblem> {
  const { provider, person, accountId, nowMs } = entry
  const member = await findMember(transaction, entry, identity?.userId ?? null)
  if (member !== undefined) {
    const about = { accountId, userId: member.user_id }
    if (!member.is_active)
      return new SignInProblem('deactivated', { ...about, detail: `${person.email} is deactivated.` })
    if (identity === undefined) {
      const obstacle = await findObstacle(transaction, entry, member.user_id)
      if (obstacle !== null) return new SignInProblem('no_account', { ...about, detail: obstacle })
    }
    return { accountId, userId: member.user_id, isNew: false }
  }
  if (isEmailProven(provider, person)) {
    const { email, name } = person
    const actor = actorOf(provider, accountId)
    const invited = { accountId, email, name, actor, nowMs }
    const accepted = await tellDeactivated(entry, acceptInviteOfEmail(transaction, options, invited))
    if (accepted !== null) return { accountId, userId: accepted.userId, isNew: true }
  }
  if (provider.makesMembers && accountsNamedFor(provider, person).includes(accountId))
    return makeMember(transaction, entry, provider.memberRole)
  return new SignInProblem('no_account', {
    accountId,
    detail: `${person.email} is neither a member nor invited.`,
  })
}

interface MemberRow {
  readonly user_id: string
  readonly is_active: boolean
}

/** By the identity, otherwise by the e-mail address. */
async function findMember(
  transaction: Queryable,
  { accountId, person }: Entry,
  userId: string | null,
): Promise<MemberRow | undefined> {
  const [row] = await transaction.query<MemberRow>(
    `SELECT m.user_id, u.status = 'active' AND m.suspended_at IS NULL AND a.status = 'active' AS is_active
     FROM account_members m JOIN users u ON u.id = m.user_id JOIN accounts a ON a.id = m.account_id
     WHERE m.account_id = $1 AND CASE WHEN $2::uuid IS NULL THEN lower(u.email) = lower($3) ELSE m.user_id = $2 END
     FOR SHARE OF m`,
    [accountId, userId, person.email],
  )
  return row
}

/**
 * Returns why a member with the same e-mail address must not be taken for this person. Nothing proves that the member is whoever has the
 * address at the provider, unless the operator says so of this provider, the domain and the account.
 */
async function findObstacle(
  transaction: Queryable,
  { provider, person, accountId }: Entry,
  userId: string,
): Promise<string | null> {
  const { email, domain } = person
  if (!provider.linksMembers)
    return `${email} is a member already, and members are not linked by their address.`
  const speaksFor = provider.allowedDomains.includes(domain) && isEmailProven(provider, person)
  if (!speaksFor || !accountsNamedFor(provider, person).includes(accountId))
    return `${email} is a member already, and this provider does not speak for the domain and the account.`
  const identities = await transaction.query(
    'SELECT FROM identities WHERE account_id = $1 AND user_id = $2 LIMIT 1',
    [accountId, userId],
  )
  return identities.length === 0 ? null : `${email} is a member already, and signs in as another identity.`
}

async function makeMember(transaction: Queryable, entry: Entry, role: string): Promise<EnteredAccount> {
  const { provider, person, accountId, nowMs } = entry
  const { email, name } = person
  const actor = actorOf(provider, accountId)
  const newcomer = { accountId, email, name, role, actor, nowMs }
  const { userId, isNew } = await tellDeactivated(entry, enterFromDirectory(transaction, newcomer))
  return { accountId, userId, isNew }
}

/** The operator of the gateway may have deactivated whoever has this address. */
async function tellDeactivated<Result>({ accountId, person }: Entry, work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'forbidden') throw error
    throw new SignInProblem('deactivated', {
      accountId,
      detail: `${person.email} is deactivated.`,
      cause: error,
    })
  })
}

export function actorOf({ name }: SealedProvider, accountId: string) {
  return { accountId, keyId: null, name }
}

async function keepIdentity(
  transaction: Queryable,
  { provider, person, nowMs }: Arrival,
  entered: EnteredAccount,
): Promise<EnteredAccount> {
  const { accountId, userId } = entered
  await transaction.query(
    `INSERT INTO identities (provider_id, subject, account_id, user_id, email, created_at, last_used_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6)
     ON CONFLICT (provider_id, subject, account_id) DO UPDATE SET email = excluded.email, last_used_at = excluded.last_used_at`,
    [provider.id, person.subject, accountId, userId, person.email, new Date(nowMs)],
  )
  return entered
}
