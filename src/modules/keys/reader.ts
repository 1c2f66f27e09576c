import type { Caller } from './authenticate/caller.ts'
import type { Permission } from './permissions/permissions.ts'

/** Whose usage, requests and tasks are read. Made by `readerOf` for a caller, so that no route decides this for itself. */
export interface Reader {
  readonly accountId: string
  /** The only project whose rows may be read. Null for the whole account. */
  readonly projectId: string | null
  /** The only key whose work may be read. Null for all keys of the account. */
  readonly ownKeyId: string | null
}

/** Without the permission, a key reads only what it did itself. */
export function readerOf(caller: Caller, permission: 'usage.read' | 'log.read'): Reader {
  const { accountId, projectId, keyId } = caller
  return { accountId, projectId, ownKeyId: mayRead(caller, permission) ? null : keyId }
}

/** For operators and for work of the gateway itself. */
export function readerOfAccount(accountId: string): Reader {
  return { accountId, projectId: null, ownKeyId: null }
}

/** Operators read every account, so also their own. */
export function mayRead({ permissions }: Pick<Caller, 'permissions'>, permission: Permission): boolean {
  return permissions.has(permission) || permissions.has('gateway.read')
}

/** Whether the caller may read how much the account has. In a project nobody does: its rights end at the project. */
export function seesBalance({ permissions, projectId }: Pick<Caller, 'permissions' | 'projectId'>): boolean {
  if (permissions.has('gateway.read')) return true
  return projectId === null && (permissions.has('usage.read') || permissions.has('billing.manage'))
}
