import { useQuery } from '@tanstack/react-query'
import { accountQuery } from './account.ts'
import type { KeyScope } from './keys.ts'

/** Returns whether the key of the session has a scope. Null until the account is read. */
export function useHasScope(scope: KeyScope): boolean | null {
  const { data: account } = useQuery(accountQuery)
  return account === undefined ? null : account.key.scopes.includes(scope)
}

/** Returns whether the key of the session reads figures of the whole account, or only its own. True until the account is read. */
export function useSeesAccount(): boolean {
  const { data: account } = useQuery(accountQuery)
  return account === undefined || ACCOUNT_SCOPES.some((scope) => account.key.scopes.includes(scope))
}

const ACCOUNT_SCOPES: readonly KeyScope[] = ['manage', 'admin']
