import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from '../authenticate/caller.ts'
import { authorityIn, readAuthority } from '../authenticate/read-authority.ts'
import { requirePermissions, requireUnrestricted, type Authority } from '../key-rights.ts'
import { permissionsOfRoles } from './held-permissions.ts'
import { refuseAccessToken } from './refuse-access-token.ts'

/** Roles and permissions that somebody gains or loses. */
export interface Gift {
  /** Where. Null: in the account. */
  readonly projectId: string | null
  /** Predefined roles as `account:owner`, permissions of own roles by their names. */
  readonly roles: readonly string[]
}

/**
 * Throws unless the caller may give these roles and take them away: it has all of their permissions there itself, and its key has no limits
 * that the people would not have. A key of the account itself with the scope `manage` acts for the account, which has everything.
 */
export async function requireMayGive(
  queryable: Queryable,
  caller: Caller,
  { projectId, roles }: Gift,
  nowMs: number,
): Promise<void> {
  refuseAccessToken(caller)
  const authority = await readAuthority(queryable, caller, nowMs)
  requireUnrestricted(authority)
  if (isOfAccountItself(authority)) return
  requirePermissions(await authorityIn(queryable, authority, projectId), permissionsOfRoles(roles))
}

/** Whether the caller acts for the account itself or the gateway, and not for a person or a service account. */
export function isOfAccountItself(authority: Authority): boolean {
  if (authority.kind === 'operator') return true
  return authority.key.ownerRoles === null && authority.key.scopes.includes('manage')
}
