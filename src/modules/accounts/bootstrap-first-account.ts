import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { insertAccount, type FirstCredit } from './insert-account.ts'

export interface BootstrapRequest {
  /** The key to use; a new one is made without it. */
  readonly key?: string
  readonly creditNanoUsd: NanoUsd
}

/** Expected either way: a second start, or another process, finds the account there. */
export type BootstrapOutcome =
  | { readonly created: true; readonly accountId: string; readonly token: string }
  | { readonly created: false }

export interface FirstKeyIssuer {
  issueFirstKey(transaction: Queryable, accountId: string, token?: string): Promise<{ token: string }>
}

/** Gives an empty database its first account and a key of all scopes, exactly once however many processes start. */
export async function bootstrapFirstAccount(
  {
    database,
    clock,
    keys,
    credit,
  }: { database: Database; clock: Clock; keys: FirstKeyIssuer; credit: FirstCredit },
  { key, creditNanoUsd }: BootstrapRequest,
): Promise<BootstrapOutcome> {
  // Looked at first, so that an ordinary start takes no lock that running processes would wait for.
  if (await hasAccount(database)) return { created: false }
  return database.transaction(async (transaction) => {
    // Who comes second waits here, and then sees what who came first has committed.
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
}

async function hasAccount(queryable: Queryable): Promise<boolean> {
  const rows = await queryable.query('SELECT 1 FROM accounts LIMIT 1')
  return rows.length > 0
}
