import { useQuery } from '@tanstack/react-query'
import { accountQuery } from './account.ts'

/** What the pages of an organization ask for. */
export type Permission =
  | 'audit.read'
  | 'bodies.read'
  | 'budgets.manage'
  | 'compare.manage'
  | 'keys.manage'
  | 'members.manage'
  | 'organization.read'
  | 'projects.manage'

/** Returns whether the session has a permission. Nothing is allowed until the account is known. */
export function usePermissions(): (permission: Permission) => boolean {
  const { data: account } = useQuery(accountQuery)
  const held: readonly string[] = account?.session?.permissions ?? []
  return (permission) => held.includes(permission)
}
