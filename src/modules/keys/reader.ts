import type { Caller } from './authenticate/caller.ts'

/** Whose usage, requests and tasks are read. Made by `readerOf` for a caller, so that no route decides this for itself. */
export interface Reader {
  readonly accountId: string
  /** The only key whose work may be read. Null for all keys of the account. */
  readonly ownKeyId: string | null
}

/** A key that can manage the account reads everything of it. Any other key reads only what it did itself. */
export function readerOf(caller: Caller): Reader {
  return { accountId: caller.accountId, ownKeyId: managesAccount(caller) ? null : caller.keyId }
}

/** For operators and for work of the gateway itself. */
export function readerOfAccount(accountId: string): Reader {
  return { accountId, ownKeyId: null }
}

/** Whether the caller may read figures of the whole account, such as its balance. */
export function managesAccount({ scopes }: Pick<Caller, 'scopes'>): boolean {
  return scopes.has('manage') || scopes.has('admin')
}
