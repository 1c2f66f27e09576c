import { lookupTable } from '../../../kernel/lookup-table.ts'
import {
  ACCOUNT_PERMISSIONS,
  GATEWAY_PERMISSIONS,
  isPermission,
  PROJECT_PERMISSIONS,
  type Permission,
} from './permissions.ts'

/** The roles that every account has. */
export const ACCOUNT_ROLE_PERMISSIONS = {
  owner: ACCOUNT_PERMISSIONS,
  billing: ['keys.own', 'organization.read', 'usage.read', 'billing.manage'],
  auditor: ['keys.own', 'organization.read', 'usage.read', 'log.read', 'audit.read', 'deployments.read'],
  // With their own keys people work in the projects that they were added to.
  reader: ['keys.own'],
} as const satisfies Record<string, readonly Permission[]>

const OF_VIEWERS = ['organization.read', 'usage.read', 'deployments.read'] as const

/** The roles that every project has. */
export const PROJECT_ROLE_PERMISSIONS = {
  owner: PROJECT_PERMISSIONS,
  member: [...OF_VIEWERS, 'models.use', 'keys.own', 'compare.manage'],
  viewer: OF_VIEWERS,
} as const satisfies Record<string, readonly Permission[]>

/** The roles of people who operate the gateway, beside their role in their account. */
export const OPERATOR_ROLE_PERMISSIONS = {
  operator: GATEWAY_PERMISSIONS,
  'operator-reader': ['gateway.read'],
} as const satisfies Record<string, readonly Permission[]>

const PREDEFINED = lookupTable<readonly Permission[]>({
  ...withPrefix('account', ACCOUNT_ROLE_PERMISSIONS),
  ...withPrefix('project', PROJECT_ROLE_PERMISSIONS),
  ...withPrefix('gateway', OPERATOR_ROLE_PERMISSIONS),
})

/**
 * Returns what a role gives: a predefined one by its place and name, `account:owner`, or one permission of an own role by its name.
 * Unknown names give nothing, so that an older process is safe beside a newer one, and no own role gives what only operators have.
 */
export function permissionsOfRole(role: string): readonly Permission[] {
  const predefined = PREDEFINED[role]
  if (predefined !== undefined) return predefined
  return isPermission(role) && !GATEWAY_PERMISSIONS.includes(role) ? [role] : []
}

function withPrefix(
  prefix: string,
  roles: Readonly<Record<string, readonly Permission[]>>,
): Record<string, readonly Permission[]> {
  return Object.fromEntries(
    Object.entries(roles).map(([name, permissions]) => [`${prefix}:${name}`, permissions]),
  )
}
