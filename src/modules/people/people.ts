import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import {
  accountMemberFromRow,
  readAccountMember,
  SELECT_ACCOUNT_MEMBER,
  type AccountMember,
  type AccountMemberRow,
  type AccountRole,
} from './account-member.ts'
import { endSessionsOf, recordEnded } from './end-sessions.ts'
import { createEntries, type Entries } from './entries.ts'
import { createInvites, type Invites } from './invites.ts'
import { createOperators, type Operators } from './operators.ts'
import type { PeopleOptions } from './people-options.ts'
import { createRecovery, type Recovery } from './recovery-links.ts'

export { ACCOUNT_ROLES, type AccountMember } from './account-member.ts'
export { OPERATOR_ROLES, type Operator } from './operators.ts'
export { acceptInviteOfEmail } from './accept-invite-of-email.ts'
export { enterFromDirectory, switchFromDirectory } from './directory-people.ts'
export type { Entered } from './accept-invite.ts'
export { createLinkMails, type LinkMails } from './mail-links.ts'
export { renameFromDirectory } from './rename-from-directory.ts'
export type { Invite } from './invite-record.ts'
export type { PeopleOptions } from './people-options.ts'

/** A person, whichever accounts they are a member of. */
interface User {
  readonly id: string
  readonly email: string
  readonly isActive: boolean
}

/** All functions on members throw `not_found` for a person who is not a member of the account. */
export interface People {
  /** The most recent people first. */
  list(
    accountId: string,
    page: PageRequest,
    filter: { emails: readonly string[] | null },
  ): Promise<OpenPage<AccountMember>>
  read(accountId: string, userId: string): Promise<AccountMember>
  /** Returns after every process has applied the role to the keys and sessions of the person. */
  changeRole(caller: Caller, userId: string, role: AccountRole): Promise<AccountMember>
  /** Returns after every process refuses the keys and sessions of the person in this account. Other accounts are not touched. */
  remove(caller: Caller, userId: string): Promise<void>
  /** Ends all sessions of the person in this account and returns how many. Their keys go on working. */
  endSessions(caller: Caller, userId: string): Promise<number>
  /** For operators. Returns after every process refuses the keys and sessions of the person in all accounts. */
  deactivate(operator: Caller, userId: string): Promise<User>
  activate(operator: Caller, userId: string): Promise<User>
  readonly invites: Invites
  /** Both invitations and links for recovery, as those who open them see them. */
  readonly entries: Entries
  readonly recovery: Recovery
  readonly operators: Operators
}

export function createPeople(options: PeopleOptions): People {
  const { database, clock, keys } = options
  const setStatus = async (
    operator: Caller,
    userId: string,
    status: 'active' | 'deactivated',
  ): Promise<User> => {
    const { user, accountIds } = await writeStatus(database, {
      operator,
      userId,
      status,
      nowMs: clock.nowMs(),
    })
    await Promise.all(accountIds.map((accountId) => keys.announceAccountChange(accountId)))
    return user
  }
  return {
    list: async (accountId, { limit, afterId }, { emails }) => {
      const rows = await database.query<AccountMemberRow>(
        `${SELECT_ACCOUNT_MEMBER} WHERE m.account_id = $1 AND m.user_id < $2
           AND ($3::text[] IS NULL OR lower(u.email) = ANY ($3)) ORDER BY m.user_id DESC LIMIT $4`,
        [accountId, afterId ?? ID_AFTER_ALL, emails?.map((email) => email.toLowerCase()) ?? null, limit + 1],
      )
      return openPage(rows.map(accountMemberFromRow), limit)
    },
    read: (accountId, userId) => readAccountMember(database, accountId, userId),
    changeRole: async (caller, userId, role) => {
      const { accountId } = caller
      const { id } = await readAccountMember(database, accountId, userId)
      await database.transaction(async (transaction) => {
        const before = await lockMember(transaction, accountId, id)
        const roles = [`account:${before}`, `account:${role}`]
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        await keys.keepOwner(transaction, caller, () =>
          transaction.query('UPDATE account_members SET role = $3 WHERE account_id = $1 AND user_id = $2', [
            accountId,
            id,
            role,
          ]),
        )
        await record(transaction, caller, 'user.updated', id, { changes_requested: { role } })
      })
      await keys.announceAccountChange(accountId)
      return readAccountMember(database, accountId, id)
    },
    remove: async (caller, userId) => {
      const { accountId } = caller
      const { id } = await readAccountMember(database, accountId, userId)
      await database.transaction(async (transaction) => {
        await lockMember(transaction, accountId, id)
        const roles = await keys.rolesOf(transaction, { accountId, projectId: null, userId: id })
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        await keys.keepOwner(transaction, caller, () =>
          transaction.query('DELETE FROM account_members WHERE account_id = $1 AND user_id = $2', [
            accountId,
            id,
          ]),
        )
        // Revoked and not only refused, so that they do not come back with the person.
        await transaction.query(
          `WITH ended AS (UPDATE api_keys SET revoked_at = $3
             WHERE account_id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id)
           DELETE FROM sessions WHERE key_id IN (SELECT id FROM ended) OR project_key_id IN (SELECT id FROM ended)`,
          [accountId, id, new Date(clock.nowMs())],
        )
        await record(transaction, caller, 'user.deleted', id)
      })
      await keys.announceAccountChange(accountId)
    },
    endSessions: async (caller, userId) => {
      const { accountId } = caller
      const { id } = await readAccountMember(database, accountId, userId)
      return database.transaction(async (transaction) => {
        const roles = await keys.rolesOf(transaction, { accountId, projectId: null, userId: id })
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        const ended = await endSessionsOf(transaction, { accountId, userId: id })
        await recordEnded(transaction, caller, ended)
        return ended.length
      })
    },
    deactivate: (operator, userId) => setStatus(operator, userId, 'deactivated'),
    activate: (operator, userId) => setStatus(operator, userId, 'active'),
    invites: createInvites(options),
    entries: createEntries(options),
    recovery: createRecovery(options),
    operators: createOperators(options),
  }
}

/** Returns the role of a member, which nobody else changes before the end of the transaction. */
async function lockMember(transaction: Queryable, accountId: string, userId: string): Promise<string> {
  const [row] = await transaction.query<{ role: string }>(
    'SELECT role FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE',
    [accountId, userId],
  )
  if (row === undefined) throw notFound('user')
  return row.role
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: AccountChange['type'],
  userId: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  const resourceId = wireId('user', userId)
  return recordChange(transaction, { actor, type, projectId: null, resourceId, details })
}

interface StatusChange {
  readonly operator: Caller
  readonly userId: string
  readonly status: 'active' | 'deactivated'
  readonly nowMs: number
}

/** Also returns the accounts that the person is a member of. Sessions and signed-in tools end, and do not come back with an active person. */
async function writeStatus(
  database: Database,
  { operator, userId, status, nowMs }: StatusChange,
): Promise<{ user: User; accountIds: readonly string[] }> {
  if (!isUuid(userId)) throw notFound('user')
  return database.transaction(async (transaction) => {
    const [user] = await transaction.query<{ id: string; email: string }>(
      'UPDATE users SET status = $2, updated_at = $3 WHERE id = $1 RETURNING id, email',
      [userId, status, new Date(nowMs)],
    )
    if (user === undefined) throw notFound('user')
    if (status === 'deactivated') {
      await transaction.query(
        'DELETE FROM sessions WHERE key_id IN (SELECT id FROM api_keys WHERE user_id = $1)',
        [user.id],
      )
    }
    // Until then they are told why they are refused.
    if (status === 'active') await transaction.query('DELETE FROM grants WHERE user_id = $1', [user.id])
    const accounts = await transaction.query<{ account_id: string }>(
      'SELECT account_id FROM account_members WHERE user_id = $1',
      [user.id],
    )
    for (const { account_id: accountId } of accounts) {
      await recordChange(transaction, {
        actor: operator,
        accountId,
        type: 'user.updated',
        projectId: null,
        resourceId: wireId('user', user.id),
        details: { changes_requested: { status } },
      })
    }
    return {
      user: { id: user.id, email: user.email, isActive: status === 'active' },
      accountIds: accounts.map(({ account_id: accountId }) => accountId),
    }
  })
}
