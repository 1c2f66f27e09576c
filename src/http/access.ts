import { AppError } from '../kernel/app-error.ts'
import { scopeOfPermission, type Caller, type Permission } from '../modules/keys/keys.ts'

/** What a request needs to reach a route. */
export interface Access {
  /** All of them. None: any key will do, and the route shows only what the key may see. */
  readonly permissions: readonly Permission[]
  /** What the route is about. Keys of a project reach only what is about projects, and there only their own. */
  readonly reach: 'project' | 'account' | 'gateway'
}

/** The route needs no key. */
export const NO_KEY = null
export const ANY_KEY: Access = { permissions: [], reach: 'project' }

/** The route is about things of projects: rows that belong to one, or a project that the path names. */
export function inProject(...permissions: readonly [Permission, ...Permission[]]): Access {
  return { permissions, reach: 'project' }
}

/** The route is about the account as a whole. */
export function inAccount(...permissions: readonly [Permission, ...Permission[]]): Access {
  return { permissions, reach: 'account' }
}

/** The route is for operators. */
export function ofGateway(permission: 'gateway.read' | 'gateway.manage'): Access {
  return { permissions: [permission], reach: 'gateway' }
}

/** The only place that decides whether a caller reaches a route. What rows it sees there follows from its place. */
export function requireAccess(caller: Caller, { permissions, reach }: Access): void {
  for (const permission of permissions)
    if (!caller.permissions.has(permission)) throw lacksPermission(caller, permission)
  if (reach === 'account' && caller.projectId !== null)
    throw new AppError('forbidden', 'This route is about the whole account. Use a key of the account.')
}

function lacksPermission(caller: Caller, permission: Permission): AppError {
  const scope = scopeOfPermission(permission)
  const isOfAccount = (caller.userId ?? caller.serviceAccountId ?? null) === null
  return new AppError(
    'forbidden',
    isOfAccount
      ? `This route needs a key with the scope '${scope}'.`
      : `This route needs the permission '${permission}'. The scopes of the key or the roles of its owner do not give it.`,
  )
}
