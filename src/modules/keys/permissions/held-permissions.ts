import { BoundedMap } from '../../../kernel/bounded-map.ts'
import { GATEWAY_PERMISSIONS, PERMISSIONS_OF_SCOPES, PERMISSIONS, type Permission } from './permissions.ts'
import { permissionsOfRole } from './predefined-roles.ts'
import type { Scope } from './scopes.ts'

/** What the rights of a key come from. */
export interface RightsOfKey {
  readonly scopes: readonly Scope[]
  /** The roles of its owner. Null for a key of the account itself, which has what its scopes mean. */
  readonly ownerRoles: readonly string[] | null
  /** Whether it is used in sessions only. */
  readonly isOfSessions: boolean
}

/** Keys mostly have the same few sets, so they share them. */
const sharedSets = new BoundedMap<string, ReadonlySet<Permission>>({ entriesMax: 1000 })

/** Returns what a key may do: what its scopes mean, bounded by the roles of its owner. */
export function heldPermissions(key: RightsOfKey): ReadonlySet<Permission> {
  const { scopes, ownerRoles, isOfSessions } = key
  const held = new Set(scopes.flatMap((scope) => PERMISSIONS_OF_SCOPES[scope]))
  // A session of a person who operates the gateway needs no scope for that.
  if (isOfSessions && ownerRoles !== null) for (const permission of GATEWAY_PERMISSIONS) held.add(permission)
  const given = ownerRoles === null ? held : permissionsOfRoles(ownerRoles)
  const permissions = PERMISSIONS.filter((permission) => held.has(permission) && given.has(permission))
  const name = permissions.join(' ')
  const shared = sharedSets.get(name)
  if (shared !== undefined) return shared
  const made: ReadonlySet<Permission> = new Set(permissions)
  sharedSets.set(name, made)
  return made
}

export function permissionsOfRoles(roles: readonly string[]): ReadonlySet<Permission> {
  return new Set(roles.flatMap(permissionsOfRole))
}

/** Returns those of the scopes of a key that give it something, so that it cannot give the others. */
export function heldScopes(key: RightsOfKey): readonly Scope[] {
  const { scopes, ownerRoles } = key
  if (ownerRoles === null) return scopes
  const held = heldPermissions(key)
  return scopes.filter((scope) => PERMISSIONS_OF_SCOPES[scope].some((permission) => held.has(permission)))
}
