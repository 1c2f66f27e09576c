import { createHash } from 'node:crypto'
import type { Database, Queryable } from '../../storage/database.ts'
import { followDirectoryGroups } from '../groups/groups.ts'
import type { Keys } from '../keys/keys.ts'
import { allowsDirectory, type Browser, type Sessions } from '../sessions/sessions.ts'
import { actorOf, enterAccount, type EnterOptions } from './enter-account.ts'
import { followOperatorGroups } from './follow-operator-groups.ts'
import type { SealedProvider } from './identity-provider.ts'
import type { PersonAtProvider } from './read-claims.ts'
import { SignInProblem } from './sign-in-problem.ts'
import { SIGN_IN_LIFE_MS, type SessionOfPerson, type SignInState } from './sign-in-state.ts'

export interface FinishOptions extends EnterOptions {
  readonly database: Database
  readonly keys: Pick<Keys, 'rolesOf' | 'announceAccountChange'>
  readonly sessions: Pick<Sessions, 'startForPerson' | 'confirmPerson'>
}

interface Finish {
  readonly provider: SealedProvider
  readonly person: PersonAtProvider
  readonly begun: SignInState
  readonly browser: Browser
  readonly nowMs: number
}

type StartedSession = Awaited<ReturnType<Sessions['startForPerson']>>

/** Starts the session of a person whom a provider vouches for. */
export async function startSession(
  { database, keys, sessions, accounts }: FinishOptions,
  { provider, person, begun, browser, nowMs }: Finish,
): Promise<StartedSession> {
  const { session, accountId, isChanged } = await database.transaction(async (transaction) => {
    await useOnce(transaction, {
      providerId: provider.id,
      token: begun.state,
      untilMs: nowMs + SIGN_IN_LIFE_MS,
    })
    const entered = await enterAccount(
      transaction,
      { accounts, keys },
      { provider, person, accountId: begun.accountId, nowMs },
    )
    if (!(await allowsDirectory(transaction, entered.accountId)))
      throw new SignInProblem('method_refused', {
        accountId: entered.accountId,
        ...(!entered.isNew && { userId: entered.userId }),
        detail: `The account lets nobody in with ${provider.name}.`,
      })
    const isFollowed = await followGroups(transaction, provider, person, entered)
    const { accountId, userId, isNew } = entered
    const { environment } = provider
    const issuer = { id: provider.id, session: person.session }
    const note = { provider: provider.name, ...(person.areGroupsMissing ? { groups: 'missing' } : {}) }
    const started = await sessions.startForPerson(transaction, {
      accountId,
      userId,
      environment,
      method: 'directory',
      ...browser,
      issuer,
      note,
    })
    // A provider may have let somebody in who proved who they are hours ago.
    if (person.authenticatedAtMs !== null)
      await transaction.query('UPDATE sessions SET confirmed_at = least(now(), $2) WHERE id = $1', [
        started.id,
        new Date(person.authenticatedAtMs),
      ])
    await transaction.query(
      `UPDATE identity_providers SET last_sign_in_at = $2, groups_missing_at = CASE WHEN $3 THEN $2 ELSE groups_missing_at END
       WHERE id = $1`,
      [provider.id, new Date(nowMs), person.areGroupsMissing],
    )
    return { session: started, accountId, isChanged: isNew || isFollowed }
  })
  if (isChanged) await keys.announceAccountChange(accountId)
  return session
}

/** What the provider did not tell is left as it is. */
async function followGroups(
  transaction: Queryable,
  provider: SealedProvider,
  { groups }: PersonAtProvider,
  entered: Awaited<ReturnType<typeof enterAccount>>,
): Promise<boolean> {
  if (groups === null) return false
  const { accountId, userId } = entered
  const actor = actorOf(provider, accountId)
  const isInOthers = await followDirectoryGroups(transaction, { accountId, userId, names: groups, actor })
  const isOperatorChanged = await followOperatorGroups(transaction, provider, entered, groups)
  return isInOthers || isOperatorChanged
}

/** How far the clocks of gateway and provider may differ. */
const CLOCK_SKEW_MS = 60_000

/** Notes that the person of a session proved again who they are. */
export async function confirmSession(
  { database, sessions }: Pick<FinishOptions, 'database' | 'sessions'>,
  { provider, person, begun, nowMs }: Omit<Finish, 'browser'>,
  confirms: SessionOfPerson,
): Promise<void> {
  const { accountId, userId } = confirms
  if (person.authenticatedAtMs === null || person.authenticatedAtMs < begun.begunAtMs - CLOCK_SKEW_MS) {
    const detail =
      person.authenticatedAtMs === null
        ? 'The ID token has no `auth_time`, so a sign-in with this provider confirms nothing.'
        : 'The person did not sign in again at the provider.'
    throw new SignInProblem('not_fresh', { accountId, userId, detail })
  }
  await database.transaction(async (transaction) => {
    await useOnce(transaction, {
      providerId: provider.id,
      token: begun.state,
      untilMs: nowMs + SIGN_IN_LIFE_MS,
    })
    const identities = await transaction.query(
      `SELECT FROM identities i JOIN account_members m USING (account_id, user_id) JOIN users u ON u.id = i.user_id
       WHERE i.provider_id = $1 AND i.subject = $2 AND i.account_id = $3 AND i.user_id = $4
         AND u.status = 'active' AND m.suspended_at IS NULL`,
      [provider.id, person.subject, accountId, userId],
    )
    if (identities.length === 0)
      throw new SignInProblem('other_person', {
        accountId,
        userId,
        detail: `${person.email} is another person.`,
      })
    await sessions.confirmPerson(transaction, confirms)
  })
}

interface OneUse {
  readonly providerId: string
  readonly token: string
  readonly untilMs: number
}

/** Throws for a token that was used before, in any process. */
export async function useOnce(transaction: Queryable, { providerId, token, untilMs }: OneUse): Promise<void> {
  const rows = await transaction.query(
    `INSERT INTO used_directory_tokens (provider_id, token_hash, expires_at) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING RETURNING provider_id`,
    [providerId, createHash('sha256').update(token).digest(), new Date(untilMs)],
  )
  if (rows.length === 0) throw new SignInProblem('begin_again', { detail: 'This was used before.' })
}
