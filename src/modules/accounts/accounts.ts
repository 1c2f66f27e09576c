import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import {
  ACCOUNT_COLUMNS,
  accountFromRow,
  type Account,
  type AccountRow,
  type AccountStatus,
} from './account-record.ts'
import {
  bootstrapFirstAccount,
  type BootstrapOutcome,
  type BootstrapRequest,
  type FirstKeyIssuer,
} from './bootstrap-first-account.ts'

export type { Account } from './account-record.ts'

/** What accounts need of their keys. */
export interface AccountKeys extends FirstKeyIssuer {
  announceAccountChange(accountId: string): Promise<void>
  cachedBalanceNanoUsd(accountId: string): NanoUsd | undefined
}

export interface Accounts {
  create(draft: { name: string; creditNanoUsd: NanoUsd }): Promise<Account>
  read(accountId: string): Promise<Account>
  list(page: PageRequest): Promise<Page<Account>>
  /** Returns once every process refuses the account's keys. The caller's own account cannot be suspended. */
  suspend(caller: { accountId: string }, accountId: string): Promise<Account>
  activate(accountId: string): Promise<Account>
  /** At once when a key of the account is in memory. */
  balanceNanoUsd(accountId: string): NanoUsd | Promise<NanoUsd>
  bootstrapFirstAccount(request: BootstrapRequest): Promise<BootstrapOutcome>
}

export function createAccounts({
  database,
  clock,
  keys,
}: {
  database: Database
  clock: Clock
  keys: AccountKeys
}): Accounts {
  const read = (accountId: string) => readAccount(database, accountId)

  const setStatus = async (accountId: string, status: AccountStatus): Promise<Account> => {
    const account = await writeStatus(database, { accountId, status, nowMs: clock.nowMs() })
    await keys.announceAccountChange(account.id)
    return account
  }

  return {
    create: (draft) => insertAccount(database, { ...draft, nowMs: clock.nowMs() }),
    read,
    list: (page) => listAccounts(database, page),
    suspend: async (caller, accountId) => {
      if (caller.accountId === accountId.toLowerCase()) {
        throw new AppError('conflict', 'An account cannot suspend itself: nobody could activate it again.')
      }
      return setStatus(accountId, 'suspended')
    },
    activate: (accountId) => setStatus(accountId, 'active'),
    balanceNanoUsd: (accountId) =>
      keys.cachedBalanceNanoUsd(accountId) ?? read(accountId).then((account) => account.balanceNanoUsd),
    bootstrapFirstAccount: (request) => bootstrapFirstAccount({ database, clock, keys }, request),
  }
}

async function insertAccount(
  database: Database,
  { name, creditNanoUsd, nowMs }: { name: string; creditNanoUsd: NanoUsd; nowMs: number },
): Promise<Account> {
  const [row] = await database.query<AccountRow>(
    `INSERT INTO accounts (id, name, status, balance_nano_usd, created_at, updated_at)
     VALUES ($1, $2, 'active', $3, $4, $4) RETURNING ${ACCOUNT_COLUMNS}`,
    [createId(nowMs), name, creditNanoUsd, new Date(nowMs)],
  )
  if (row === undefined) throw new Error('an inserted account was not returned')
  return accountFromRow(row)
}

async function readAccount(database: Database, accountId: string): Promise<Account> {
  if (!isUuid(accountId)) throw notFound('account')
  const [row] = await database.query<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE id = $1`, [
    accountId,
  ])
  if (row === undefined) throw notFound('account')
  return accountFromRow(row)
}

async function listAccounts(database: Database, { limit, afterId }: PageRequest): Promise<Page<Account>> {
  const [rows, [count]] = await Promise.all([
    // One more than asked tells whether there are more.
    database.query<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE id < $1 ORDER BY id DESC LIMIT $2`,
      [afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    database.query<{ total: bigint }>('SELECT count(*) AS total FROM accounts'),
  ])
  return {
    items: rows.slice(0, limit).map(accountFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

async function writeStatus(
  database: Database,
  { accountId, status, nowMs }: { accountId: string; status: AccountStatus; nowMs: number },
): Promise<Account> {
  if (!isUuid(accountId)) throw notFound('account')
  const [row] = await database.query<AccountRow>(
    `UPDATE accounts SET status = $2, updated_at = CASE status WHEN $2 THEN updated_at ELSE $3 END
     WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`,
    [accountId, status, new Date(nowMs)],
  )
  if (row === undefined) throw notFound('account')
  return accountFromRow(row)
}
