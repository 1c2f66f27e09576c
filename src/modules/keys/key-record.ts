import type { NanoUsd } from '../../kernel/money.ts'
import { ENVIRONMENTS, SCOPES, type Environment, type Scope } from './authenticate/caller.ts'
import { isEnded } from './authenticate/is-ended.ts'
import { ownerRoles } from './permissions/owner-roles.ts'
import type { TagSettings } from './tags/tag-rules.ts'

interface FormerSecret {
  readonly keyPrefix: string
  readonly endsAtMs: number
}

/** A key as its owner may see it: everything but the secret. */
export interface KeyRecord extends TagSettings {
  readonly id: string
  readonly accountId: string
  /** Null for a key of the account, which works in the project `Default` and sees the whole account. */
  readonly projectId: string | null
  /** The person it belongs to, or the service account. Both null: the account itself. */
  readonly userId: string | null
  readonly serviceAccountId: string | null
  readonly name: string
  readonly environment: Environment
  readonly keyPrefix: string
  /** The secret before the last rotation, which works until its end. Null if the key was never rotated. */
  readonly former: FormerSecret | null
  readonly scopes: readonly Scope[]
  /** Null allows every model. */
  readonly allowedModels: readonly string[] | null
  readonly limitNanoUsd: NanoUsd | null
  readonly requestsPerMinute: number | null
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** Whether its owner has left or is deactivated, or its project is archived. */
  readonly isEnded: boolean
  /** The roles of its owner, which bound what it may do. Null for a key of the account itself. */
  readonly ownerRoles: readonly string[] | null
  /** Whether it stands for a person in sessions. */
  readonly isOfSessions: boolean
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  /** Whether it may lift the restrictions of the account's keys, including its own. */
  readonly isRoot: boolean
  /** The restricted key that created it. */
  readonly parentId: string | null
}

export interface KeyRow {
  readonly id: string
  readonly account_id: string
  readonly project_id: string | null
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly name: string
  readonly environment: string
  readonly key_prefix: string
  readonly former_key_prefix: string | null
  readonly former_ends_at: Date | null
  readonly scopes: readonly string[]
  readonly allowed_models: readonly string[] | null
  readonly limit_nano_usd: bigint | null
  readonly requests_per_minute: number | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly is_ended: boolean
  readonly owner_roles: readonly string[] | null
  readonly is_of_sessions: boolean
  readonly is_of_tokens: boolean
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly is_root: boolean
  readonly parent_id: string | null
  readonly required_tags: readonly string[] | null
  readonly fixed_tags: Readonly<Record<string, string>> | null
}

export const KEY_COLUMNS = `id, account_id, project_id, user_id, service_account_id, name, environment, key_prefix, former_key_prefix, former_ends_at, scopes, allowed_models, limit_nano_usd,
  requests_per_minute, expires_at, revoked_at, created_at, last_used_at, is_root, parent_id, is_of_sessions, is_of_tokens, required_tags, fixed_tags,
  ${isEnded('api_keys')} AS is_ended, ${ownerRoles('api_keys')} AS owner_roles`

export function keyRecordFromRow(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    projectId: row.project_id,
    userId: row.user_id,
    serviceAccountId: row.service_account_id,
    name: row.name,
    environment: parseEnvironment(row.environment),
    keyPrefix: row.key_prefix,
    former: formerOf(row),
    scopes: parseScopes(row.scopes),
    allowedModels: row.allowed_models,
    limitNanoUsd: row.limit_nano_usd,
    requestsPerMinute: row.requests_per_minute,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
    isEnded: row.is_ended,
    ownerRoles: row.owner_roles,
    isOfSessions: row.is_of_sessions && !row.is_of_tokens,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    isRoot: row.is_root,
    parentId: row.parent_id,
    requiredTags: row.required_tags,
    fixedTags: row.fixed_tags,
  }
}

function formerOf({ former_key_prefix: keyPrefix, former_ends_at: endsAt }: KeyRow): FormerSecret | null {
  return keyPrefix === null || endsAt === null ? null : { keyPrefix, endsAtMs: endsAt.getTime() }
}

export function isActive(key: KeyRecord, nowMs: number): boolean {
  return key.revokedAtMs === null && !key.isEnded && (key.expiresAtMs === null || nowMs < key.expiresAtMs)
}

function parseEnvironment(text: string): Environment {
  const environment = ENVIRONMENTS.find((candidate) => candidate === text)
  if (environment === undefined) throw new Error(`a stored key has the unknown environment '${text}'`)
  return environment
}

// Unknown scopes are dropped and give no rights, so that an older process is safe beside a newer one.
function parseScopes(names: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => names.includes(scope))
}
