import { useQuery } from '@tanstack/react-query'
import { accountQuery } from './account.ts'
import type { KeyScope } from './keys.ts'

type Account = NonNullable<Awaited<ReturnType<NonNullable<typeof accountQuery.queryFn>>>>

/** What pages ask for before they offer something. */
export type Permission = NonNullable<Account['session']>['permissions'][number]

/** Returns whether the session has a permission. Nothing is allowed until the account is known. */
export function usePermissions(): (permission: Permission) => boolean {
  const { data: account } = useQuery(accountQuery)
  const held: readonly string[] = account?.session?.permissions ?? []
  return (permission) => held.includes(permission)
}

/** The same, or null until the account is known. */
export function useMay(permission: Permission): boolean | null {
  const { data: account } = useQuery(accountQuery)
  return account === undefined ? null : account.session?.permissions.includes(permission) === true
}

/** Of which part of the account the session reads figures, in words: the account, its project, or what it did itself. */
export function useReach(permission: 'usage.read' | 'log.read'): 'account' | 'project' | 'key' | 'session' {
  const { data: account } = useQuery(accountQuery)
  if (account === undefined) return 'account'
  const held: readonly string[] = account.session?.permissions ?? []
  const isWide = held.includes(permission) || held.includes('gateway.read')
  if (!isWide) return account.session?.user ? 'session' : 'key'
  return account.session?.project ? 'project' : 'account'
}

/** Says what a session lacks: people have roles, and keys have scopes. */
export function useNeed(permission: Permission): string {
  const { data: account } = useQuery(accountQuery)
  return account?.session?.user
    ? `the permission ${permission}, which your role does not give`
    : `a key with the scope ${scopeOf(permission)}`
}

/** The scope of keys that gives a permission. */
export function scopeOf(permission: Permission): KeyScope {
  if (permission.startsWith('gateway.')) return 'admin'
  return OF_INFERENCE.has(permission) ? 'inference' : 'manage'
}

const OF_INFERENCE: ReadonlySet<Permission> = new Set<Permission>([
  'models.use',
  'deployments.read',
  'deployments.manage',
])
