import { AppError } from '../../kernel/app-error.ts'
import type { Environment, Scope } from './authenticate/caller.ts'
import type { KeyRecord } from './key-record.ts'
import type { Permission } from './permissions/permissions.ts'
import { keepsTags } from './tags/tag-rules.ts'

/** The rights of a key. Null means no limit. */
export type KeyRights = Pick<
  KeyRecord,
  | 'environment'
  | 'scopes'
  | 'allowedModels'
  | 'limitNanoUsd'
  | 'requestsPerMinute'
  | 'expiresAtMs'
  | 'requiredTags'
  | 'fixedTags'
>

/** The creator or editor of a key: the operator, or a key of the account. */
export type Authority =
  | { readonly kind: 'operator'; readonly environment: Environment }
  | {
      readonly kind: 'key'
      /** With those of its scopes that the roles of its owner leave. */
      readonly key: KeyRecord
      /** All of its scopes, which may give more in another project. */
      readonly storedScopes: readonly Scope[]
      readonly permissions: ReadonlySet<Permission>
    }

/** The scopes of a typical personal key: using models and managing the account. */
const PERSONAL_SCOPES: readonly Scope[] = ['inference', 'manage']

/** Fills absent members with the rights of the authority. */
export function inheritRights(authority: Authority, asked: Partial<KeyRights>): KeyRights {
  if (authority.kind === 'operator') return { ...UNRESTRICTED, environment: authority.environment, ...asked }
  const { key } = authority
  const scopes = PERSONAL_SCOPES.filter((scope) => key.scopes.includes(scope))
  const {
    environment,
    allowedModels,
    limitNanoUsd,
    requestsPerMinute,
    expiresAtMs,
    requiredTags,
    fixedTags,
  } = key
  const limits = { allowedModels, limitNanoUsd, requestsPerMinute, expiresAtMs }
  const held = { ...limits, environment, requiredTags, fixedTags }
  return { ...(key.isRoot ? { ...UNRESTRICTED, environment } : held), scopes, ...asked }
}

const UNRESTRICTED = {
  scopes: PERSONAL_SCOPES,
  allowedModels: null,
  limitNanoUsd: null,
  requestsPerMinute: null,
  expiresAtMs: null,
  requiredTags: null,
  fixedTags: null,
}

/** Whether the key is limited in any way that its account is not. */
export function isRestricted(
  rights: Omit<KeyRights, 'environment' | 'scopes' | 'requiredTags' | 'fixedTags'> & {
    parentId?: string | null
  },
): boolean {
  const { allowedModels, limitNanoUsd, requestsPerMinute, expiresAtMs, parentId = null } = rights
  return [allowedModels, limitNanoUsd, requestsPerMinute, expiresAtMs, parentId].some(
    (limit) => limit !== null,
  )
}

/** Whether the authority's own restrictions do not apply when it creates or changes keys. */
export function liftsRestrictions(authority: Authority): boolean {
  return authority.kind === 'operator' || authority.key.isRoot
}

/** Throws unless the authority has all the given rights. */
export function requireRights(authority: Authority, given: KeyRights): void {
  if (authority.kind === 'operator') return
  const { key: held } = authority
  requireScopes(held.scopes, given.scopes)
  if (held.isRoot) return
  const param = findExcess(held, given)
  if (param === null) return
  throw new AppError(
    'forbidden',
    `This key cannot give more than it has: ${param} goes beyond its own. Use the root key of the account.`,
    { param },
  )
}

/**
 * Throws for a key that has limits which the account has not. Such a key must not let people in or change what they may do: they would not
 * have its limits.
 */
export function requireUnrestricted(authority: Authority): void {
  if (liftsRestrictions(authority) || authority.kind === 'operator' || !isRestricted(authority.key)) return
  throw new AppError(
    'forbidden',
    'A restricted key cannot let people in or change what others may do. Use an unrestricted key.',
  )
}

/** Throws unless the authority has all of these permissions: nobody passes on what they lack. */
export function requirePermissions(authority: Authority, permissions: Iterable<Permission>): void {
  if (authority.kind === 'operator') return
  for (const permission of permissions) {
    if (authority.permissions.has(permission)) continue
    throw new AppError(
      'forbidden',
      `This gives or takes the permission '${permission}', which the key that asks does not have itself.`,
    )
  }
}

/** Throws if a scope is missing: no key may give or take a scope that it does not have. */
export function requireScopes(held: readonly Scope[], scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !held.includes(scope))
  if (missing === undefined) return
  throw new AppError(
    'forbidden',
    `A key with the scope '${missing}' can only be managed by a key that has it.`,
  )
}

/** Returns the API name of the first field in which the given rights exceed the held ones. */
function findExcess(held: KeyRights, given: KeyRights): string | null {
  if (given.scopes.some((scope) => !held.scopes.includes(scope))) return 'scopes'
  if (given.environment !== held.environment) return 'env'
  if (!keepsTags(held, given)) return 'fixed_tags or required_tags'
  if (isMore(held.limitNanoUsd, given.limitNanoUsd)) return 'limit_usd'
  if (isMore(held.requestsPerMinute, given.requestsPerMinute)) return 'requests_per_minute'
  if (isMore(held.expiresAtMs, given.expiresAtMs)) return 'expires_at'
  const { allowedModels } = held
  if (allowedModels === null) return null
  const isSubset = given.allowedModels?.every((model) => allowedModels.includes(model)) ?? false
  return isSubset ? null : 'allowed_models'
}

function isMore<Amount extends bigint | number>(held: Amount | null, given: Amount | null): boolean {
  return held !== null && (given === null || given > held)
}
