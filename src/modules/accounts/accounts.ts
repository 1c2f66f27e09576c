import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type ChangeActor } from '../audit/audit.ts'
import {
  ACCOUNT_COLUMNS,
  accountFromRow,
  type Account,
  type AccountRow,
  type AccountStatus,
} from './account-record.ts'
import { listAccounts, type AccountFilter, type AccountPageRequest } from './list/list-accounts.ts'
import { NO_FIGURES, readFigures, type AccountFigures } from './list/read-figures.ts'
import {
  bootstrapFirstAccount,
  type BootstrapOutcome,
  type BootstrapRequest,
  type FirstKeyIssuer,
} from './bootstrap-first-account.ts'
import { insertAccount, type FirstCredit } from './insert-account.ts'

export type { Account } from './account-record.ts'
export { ACCOUNT_SORTS, type AccountFilter } from './list/list-accounts.ts'

/** The key operations that accounts need. */
export interface AccountKeys extends FirstKeyIssuer {
  announceAccountChange(accountId: string): Promise<void>
}

/** The ledger operations that accounts need. */
export interface BorrowedAccount extends FirstCredit {
  readBalances(accountIds: readonly string[]): Promise<ReadonlyMap<string, { balanceNanoUsd: NanoUsd }>>
  postCharges(): Promise<void>
}

/** An account of a list. */
export type ListedAccount = Account & AccountFigures

/** A page of accounts, and where the next one begins. Null at the end. */
export type AccountPage = Page<ListedAccount> & { readonly nextCursor: string | null }

export interface Accounts {
  create(draft: { name: string; creditNanoUsd: NanoUsd }): Promise<Account>
  /** Makes an account without credit in a transaction that goes on. */
  insert(transaction: Queryable, draft: { name: string; nowMs: number }): Promise<{ id: string }>
  read(accountId: string): Promise<Account>
  list(page: AccountPageRequest, filter?: AccountFilter): Promise<AccountPage>
  /** All accounts that the filter finds, in pages. */
  walk(
    order: Omit<AccountPageRequest, 'limit' | 'after'>,
    filter: AccountFilter,
  ): AsyncIterable<readonly ListedAccount[]>
  /**
   * Returns after every process refuses the account's keys, with the reason. Without a new one the reason stays. The caller's own
   * account cannot be suspended.
   */
  suspend(operator: ChangeActor, accountId: string, reason?: string | null): Promise<Account>
  activate(operator: ChangeActor, accountId: string): Promise<Account>
  /** Null deletes the note. */
  setNote(accountId: string, note: string | null): Promise<Account>
  /** Null for UTC. The name must be one of a time zone. */
  setTimeZone(actor: ChangeActor, timeZone: string | null): Promise<Account>
  bootstrapFirstAccount(request: BootstrapRequest): Promise<BootstrapOutcome>
}

export function createAccounts({
  database,
  clock,
  keys,
  credit,
}: {
  database: Database
  clock: Clock
  keys: AccountKeys
  credit: BorrowedAccount
}): Accounts {
  const withBalances = async (rows: readonly AccountRow[]): Promise<Account[]> => {
    const balances = await credit.readBalances(rows.map(({ id }) => id))
    return rows.map((row) => accountFromRow(row, balances.get(row.id)?.balanceNanoUsd ?? 0n))
  }
  const withBalance = async (row: AccountRow | undefined): Promise<Account> => {
    const [account] = row === undefined ? [] : await withBalances([row])
    if (account === undefined) throw notFound('account')
    return account
  }

  const setStatus = async (
    operator: ChangeActor,
    accountId: string,
    status: AccountStatus,
    reason: string | null,
  ): Promise<Account> => {
    const account = await withBalance(
      await writeStatus(database, { operator, accountId, status, reason, nowMs: clock.nowMs() }),
    )
    await keys.announceAccountChange(account.id)
    return account
  }

  const list = async (page: AccountPageRequest, filter = EVERY_ACCOUNT): Promise<AccountPage> => {
    const nowMs = clock.nowMs()
    // Else the order would be of earlier figures than those that are shown.
    await credit.postCharges()
    const { rows, total, nextCursor } = await listAccounts(database, page, filter, nowMs)
    const [accounts, figures] = await Promise.all([
      withBalances(rows),
      readFigures(
        database,
        rows.map(({ id }) => id),
        nowMs,
      ),
    ])
    const items = accounts.map((account) => ({ ...account, ...(figures.get(account.id) ?? NO_FIGURES) }))
    return { items, total, hasMore: nextCursor !== null, nextCursor }
  }

  return {
    create: async ({ name, creditNanoUsd }) => {
      const row = await database.transaction((transaction) =>
        insertAccount(transaction, credit, { name, creditNanoUsd, nowMs: clock.nowMs() }),
      )
      return accountFromRow(row, creditNanoUsd)
    },
    insert: async (transaction, { name, nowMs }) => {
      const { id } = await insertAccount(transaction, credit, { name, creditNanoUsd: 0n, nowMs })
      return { id }
    },
    read: async (accountId) => withBalance(await readAccount(database, accountId)),
    list,
    walk: async function* (order, filter) {
      let after: string | null = null
      do {
        const page: AccountPage = await list({ ...order, limit: WALKED_AT_ONCE, after }, filter)
        yield page.items
        after = page.nextCursor
      } while (after !== null)
    },
    suspend: async (operator, accountId, reason = null) => {
      if (operator.accountId === accountId.toLowerCase()) {
        throw new AppError('conflict', 'An account cannot suspend itself: nobody could activate it again.')
      }
      return setStatus(operator, accountId, 'suspended', reason)
    },
    activate: (operator, accountId) => setStatus(operator, accountId, 'active', null),
    setNote: async (accountId, note) =>
      withBalance(await writeNote(database, { accountId, note, nowMs: clock.nowMs() })),
    setTimeZone: async (actor, timeZone) =>
      withBalance(await writeTimeZone(database, { actor, timeZone, nowMs: clock.nowMs() })),
    bootstrapFirstAccount: (request) => bootstrapFirstAccount({ database, clock, keys, credit }, request),
  }
}

async function readAccount(queryable: Queryable, accountId: string): Promise<AccountRow | undefined> {
  if (!isUuid(accountId)) return undefined
  const [row] = await queryable.query<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE id = $1`, [
    accountId,
  ])
  return row
}

const EVERY_ACCOUNT: AccountFilter = { search: null, status: null }
const WALKED_AT_ONCE = 500

interface StatusChange {
  readonly operator: ChangeActor
  readonly accountId: string
  readonly status: AccountStatus
  /** Null: as before. */
  readonly reason: string | null
  readonly nowMs: number
}

async function writeStatus(
  database: Database,
  { operator, accountId, status, reason, nowMs }: StatusChange,
): Promise<AccountRow | undefined> {
  if (!isUuid(accountId)) return undefined
  return database.transaction(async (transaction) => {
    const [changed] = await transaction.query<AccountRow>(
      `UPDATE accounts SET status = $2, updated_at = $3,
         suspended_reason = CASE WHEN $2 = 'suspended' THEN coalesce($4, CASE WHEN status = 'suspended' THEN suspended_reason END) END
       WHERE id = $1 AND (status <> $2 OR $4 <> coalesce(suspended_reason, '')) RETURNING ${ACCOUNT_COLUMNS}`,
      [accountId, status, new Date(nowMs), reason],
    )
    if (changed === undefined) return readAccount(transaction, accountId)
    await recordChange(transaction, {
      actor: operator,
      accountId: changed.id,
      type: 'organization.updated',
      projectId: null,
      resourceId: wireId('organization', changed.id),
      details: { changes_requested: { status, ...(reason !== null && { reason }) } },
    })
    return changed
  })
}

async function writeNote(
  database: Database,
  { accountId, note, nowMs }: { accountId: string; note: string | null; nowMs: number },
): Promise<AccountRow | undefined> {
  if (!isUuid(accountId)) return undefined
  const [row] = await database.query<AccountRow>(
    `UPDATE accounts SET note = $2, updated_at = $3 WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`,
    [accountId, note, new Date(nowMs)],
  )
  return row
}

async function writeTimeZone(
  database: Database,
  { actor, timeZone, nowMs }: { actor: ChangeActor; timeZone: string | null; nowMs: number },
): Promise<AccountRow | undefined> {
  const { accountId } = actor
  return database.transaction(async (transaction) => {
    const [changed] = await transaction.query<AccountRow>(
      `UPDATE accounts SET time_zone = $2, updated_at = $3
       WHERE id = $1 AND time_zone IS DISTINCT FROM $2 RETURNING ${ACCOUNT_COLUMNS}`,
      [accountId, timeZone, new Date(nowMs)],
    )
    if (changed === undefined) return readAccount(transaction, accountId)
    await recordChange(transaction, {
      actor,
      type: 'organization.updated',
      projectId: null,
      resourceId: wireId('organization', accountId),
      details: { changes_requested: { time_zone: timeZone ?? 'UTC' } },
    })
    return changed
  })
}

interface FoundAccount {
  readonly id: string
  /** Whether it is the oldest account, which belongs to the operator. */
  readonly isFirst: boolean
}

/** Returns the account with this id, or the first account if the id is null. */
export async function findAccount(
  database: Database,
  accountId: string | null,
): Promise<FoundAccount | undefined> {
  if (accountId !== null && !isUuid(accountId)) return undefined
  const [row] = await database.query<{ id: string; isFirst: boolean }>(
    `SELECT id, id = (SELECT id FROM accounts ORDER BY id LIMIT 1) AS "isFirst"
     FROM accounts WHERE $1::uuid IS NULL OR id = $1 ORDER BY id LIMIT 1`,
    [accountId],
  )
  return row
}
