import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { PeopleOptions } from './people-options.ts'

export const OPERATOR_ROLES = ['operator', 'operator-reader'] as const
type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** A person who operates the gateway, as a member of one account. */
export interface Operator {
  /** Of the person. */
  readonly id: string
  readonly email: string
  readonly role: string
  readonly addedAtMs: number
}

/**
 * Who operates the gateway. An operator is one as a member of the account of whoever named them: an invitation of the same e-mail address to
 * another account gives its holder nothing.
 */
export interface Operators {
  list(caller: Caller): Promise<readonly Operator[]>
  /** Names a member of the caller's account, or changes their role. Returns after every process has applied it. */
  name(caller: Caller, userId: string, role: OperatorRole): Promise<Operator>
  remove(caller: Caller, userId: string): Promise<void>
}

const OPERATORS_MAX = 100

export function createOperators({ database, keys }: PeopleOptions): Operators {
  const list = async ({ accountId }: Caller): Promise<Operator[]> => {
    const rows = await database.query<{ id: string; email: string; role: string; added_at: Date }>(
      `SELECT u.id, u.email, o.role, o.added_at FROM operators o JOIN users u ON u.id = o.user_id
       WHERE o.account_id = $1 ORDER BY o.added_at, u.id LIMIT $2`,
      [accountId, OPERATORS_MAX],
    )
    return rows.map(({ added_at: addedAt, ...row }) => ({ ...row, addedAtMs: addedAt.getTime() }))
  }
  return {
    list,
    name: async (caller, userId, role) => {
      requireAccountKey(caller)
      const { accountId } = caller
      if (!isUuid(userId)) throw notFound('user')
      await database.transaction(async (transaction) => {
        const rows = await transaction.query(NAME, [accountId, userId, role, OPERATORS_MAX])
        if (rows.length === 0) throw notFound('user')
        await record(transaction, caller, userId, role)
      })
      await keys.announceAccountChange(accountId)
      const named = (await list(caller)).find(({ id }) => id === userId)
      if (named === undefined) throw notFound('user')
      return named
    },
    remove: async (caller, userId) => {
      requireAccountKey(caller)
      const { accountId } = caller
      if (!isUuid(userId)) throw notFound('operator')
      await database.transaction(async (transaction) => {
        const rows = await transaction.query(REMOVE, [accountId, userId])
        if (rows.length === 0) throw notFound('operator')
        await record(transaction, caller, userId, null)
      })
      await keys.announceAccountChange(accountId)
    },
  }
}

const NAME = `
  INSERT INTO operators (account_id, user_id, role)
  SELECT account_id, user_id, $3 FROM account_members WHERE account_id = $1 AND user_id = $2
    AND (SELECT count(*) FROM operators WHERE account_id = $1) < $4
  ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role, source = 'member' RETURNING user_id`

const REMOVE = 'DELETE FROM operators WHERE account_id = $1 AND user_id = $2 RETURNING user_id'

function record(
  transaction: Queryable,
  actor: Caller,
  userId: string,
  role: OperatorRole | null,
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type: 'user.updated',
    projectId: null,
    resourceId: wireId('user', userId),
    details: { changes_requested: { operator_role: role } },
  })
}

function requireAccountKey({ projectId }: Caller): void {
  if (projectId !== null) throw new AppError('forbidden', 'Operators are named with a key of the account.')
}
