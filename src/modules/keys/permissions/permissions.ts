import type { Scope } from './scopes.ts'

/** Everything that can be allowed. Routes name what they need, scopes and roles are sets of these. */
export const PERMISSIONS = [
  'models.use',
  'keys.own',
  'keys.manage',
  'members.manage',
  'projects.manage',
  'budgets.manage',
  'organization.read',
  'usage.read',
  'log.read',
  'bodies.read',
  'audit.read',
  'billing.manage',
  'deployments.read',
  'deployments.manage',
  'compare.manage',
  'guardrails.manage',
  'credentials.manage',
  'gateway.read',
  'gateway.manage',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** What each permission allows, in words for people. */
export const PERMISSION_MEANINGS: Readonly<Record<Permission, string>> = {
  'models.use': 'Use models: requests, tasks, files, stored responses.',
  'keys.own': 'Make, change and revoke keys of one’s own.',
  'keys.manage': 'Make, change and revoke keys and service accounts, and end sessions, of everybody.',
  'members.manage': 'Invite and remove people, and change groups, roles and who has them.',
  'projects.manage': 'Make, change and archive projects, and change the settings of the account.',
  'budgets.manage': 'Set budgets and their alerts, and answer requests for more.',
  'organization.read': 'See projects, people, groups, roles, invitations, keys and settings.',
  'usage.read': 'See the usage and the costs of everybody, and the balance.',
  'log.read': 'See the requests, tasks and runs of everybody in their lists, without bodies.',
  'bodies.read': 'Read stored prompts and answers.',
  'audit.read': 'Read the audit log of the account.',
  'billing.manage': 'Pay, redeem codes, and see payments.',
  'deployments.read': 'See deployments, their figures and their logs.',
  'deployments.manage': 'Start, change and stop deployments.',
  'compare.manage': 'Compare models: datasets, and with `models.use` runs, votes and conversations.',
  'guardrails.manage': 'Change guardrails.',
  'credentials.manage':
    'See and change secrets that the account shares with others, such as that of webhooks.',
  'gateway.read': 'See what operators see: accounts, payments, providers, the gateway’s own figures.',
  'gateway.manage': 'Operate the gateway: accounts, credit, limits, providers, other operators.',
}

/** What only operators have. No role of an account contains it. */
export const GATEWAY_PERMISSIONS: readonly Permission[] = ['gateway.read', 'gateway.manage']
/** What concerns the whole account, and so is in no role of a project. */
const ACCOUNT_ONLY: readonly Permission[] = ['billing.manage']

export const ACCOUNT_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(
  (permission) => !GATEWAY_PERMISSIONS.includes(permission),
)
export const PROJECT_PERMISSIONS: readonly Permission[] = ACCOUNT_PERMISSIONS.filter(
  (permission) => !ACCOUNT_ONLY.includes(permission),
)

const OF_INFERENCE: readonly Permission[] = [
  'models.use',
  'deployments.read',
  'deployments.manage',
  'compare.manage',
]
// Comparing needs models too, so only datasets are open to keys with one of the other scopes.
const OF_MANAGE = ACCOUNT_PERMISSIONS.filter(
  (permission) => !OF_INFERENCE.includes(permission) || permission === 'compare.manage',
)

/** What the scopes of keys mean. */
export const PERMISSIONS_OF_SCOPES: Readonly<Record<Scope, readonly Permission[]>> = {
  inference: OF_INFERENCE,
  manage: OF_MANAGE,
  admin: [...GATEWAY_PERMISSIONS, 'compare.manage'],
}

/** The scope that a key needs for this permission. */
export function scopeOfPermission(permission: Permission): Scope {
  if (GATEWAY_PERMISSIONS.includes(permission)) return 'admin'
  return OF_INFERENCE.includes(permission) ? 'inference' : 'manage'
}

export function isPermission(name: string): name is Permission {
  return (PERMISSIONS as readonly string[]).includes(name)
}
