import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { insertAccount, type FirstCredit } from './insert-account.ts'

export interface BootstrapRequest {
  /** The key to use. A new one is created if absent. */
  readonly key?: string
  readonly creditNanoUsd: NanoUsd
}

/** Both outcomes are normal: on a second start, or in another process, the account already exists. */
export type BootstrapOutcome =
  | { readonly created: true; readonly accountId: string; readonly token: string }
  | { readonly created: false }

export interface FirstKeyIssuer {
  issueFirstKey(transaction: Queryable, accountId: string, token?: string): Promise<{ token: string }>
  announceNewKeys(change: { readonly accountId: string }): Promise<void>
}

/** Creates the first account of an empty database and its key with all scopes, exactly once however many processes start. */
export async function bootstrapFirstAccount(
  {
    database,
    clock,
    keys,
    credit,
  }: { database: Database; clock: Clock; keys: FirstKeyIssuer; credit: FirstCredit },
  { key, creditNanoUsd }: BootstrapRequest,
): Promise<BootstrapOutcome> {
  // Checked before the lock, so that a normal start does not block running processes.
  if (await hasAccount(database)) return { created: false }
  const outcome = await database.transaction<BootstrapOutcome>(async (transaction) => {
    // Reads after the lock, so it sees the row that a concurrent first start inserted.
    await transaction.query('LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE')
    if (await hasAccount(transaction)) return { created: false }
    const { id: accountId } = await insertAccount(transaction, credit, {
      name: 'First account',
      creditNanoUsd,
      nowMs: clock.nowMs(),
    })
    const { token } = await keys.issueFirstKey(transaction, accountId, key)
    return { created: true, accountId, token }
  })
  if (outcome.created) await keys.announceNewKeys({ accountId: outcome.accountId })
  return outcome
}

async function hasAccount(queryable: Queryable): Promise<boolean> {
  const rows = await queryable.query('SELECT 1 FROM accounts LIMIT 1')
  return rows.length > 0
}
