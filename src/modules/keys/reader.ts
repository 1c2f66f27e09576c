import type { Caller } from './authenticate/caller.ts'

/** Whose usage, requests and tasks are read. Made by `readerOf` for a caller, so that no route decides this for itself. */
export interface Reader {
  readonly accountId: string
  /** The only project whose rows may be read. Null for the whole account. */
  readonly projectId: string | null
  /** The only key whose work may be read. Null for all keys of the account. */
  readonly ownKeyId: string | null
}

/** A key that can manage its account or project reads everything of it. Any other key reads only what it did itself. */
export function readerOf(caller: Caller): Reader {
  const { accountId, projectId, keyId } = caller
  return { accountId, projectId, ownKeyId: managesAccount(caller) ? null : keyId }
}

/** For operators and for work of the gateway itself. */
export function readerOfAccount(accountId: string): Reader {
  return { accountId, projectId: null, ownKeyId: null }
}

/** Whether the caller may read figures of the whole account, such as its balance. */
export function managesAccount({ scopes }: Pick<Caller, 'scopes'>): boolean {
  return scopes.has('manage') || scopes.has('admin')
}
