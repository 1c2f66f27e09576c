import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from './caller.ts'
import { isEnded } from './is-ended.ts'
import { projectPolicy, projectPolicyOf, type ProjectPolicyRow } from './project-policy.ts'
import { heldPermissions, heldScopes } from '../permissions/held-permissions.ts'
import { ownerRoles } from '../permissions/owner-roles.ts'
import { isActive, keyRecordFromRow, type KeyRow } from '../key-record.ts'
import { listLabels } from '../tags/tag-caller.ts'
import { combineTagRules } from '../tags/tag-rules.ts'
import type { Tags } from '../tags/tags.ts'

const NO_TAGS: Tags = new Map()

/** A key with the state of its account and the limits of its parent key. */
export interface CallerRow extends KeyRow, ProjectPolicyRow {
  readonly account_status: string
  readonly suspended_reason: string | null
  readonly is_operator: boolean
  readonly is_zero_retention: boolean
  /** The restricted key that made this one, or the key that a session began with, of which this is the key in another project. */
  readonly limiting_key_id: string | null
  readonly parent_limit_nano_usd: bigint | null
  readonly parent_requests_per_minute: number | null
  readonly group_ids: readonly string[]
  readonly project_required_tags: readonly string[] | null
  readonly project_fixed_tags: Readonly<Record<string, string>> | null
  readonly parent_required_tags: readonly string[] | null
  readonly parent_fixed_tags: Readonly<Record<string, string>> | null
}

export const SELECT_CALLER = `
  SELECT k.*, a.status AS account_status, a.suspended_reason, a.is_zero_retention OR coalesce(r.is_zero_retention, false) AS is_zero_retention, p.id AS limiting_key_id, p.limit_nano_usd AS parent_limit_nano_usd,
    p.requests_per_minute AS parent_requests_per_minute,
    EXISTS (SELECT FROM api_keys o WHERE o.account_id = k.account_id AND o.revoked_at IS NULL AND 'admin' = ANY (o.scopes))
      AS is_operator,
    ${isEnded('k')} AS is_ended, ${ownerRoles('k')} AS owner_roles,
    ARRAY(SELECT h.group_id::text FROM group_members h WHERE h.account_id = k.account_id AND h.user_id = k.user_id ORDER BY h.group_id)
      AS group_ids, r.required_tags AS project_required_tags, r.fixed_tags AS project_fixed_tags,
    p.required_tags AS parent_required_tags, p.fixed_tags AS parent_fixed_tags,
    ${projectPolicy('k')}
  FROM api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN api_keys p ON p.id = coalesce(k.parent_id, k.origin_key_id)
    LEFT JOIN projects r ON r.id = coalesce(k.project_id, k.account_id)`

/**
 * Returns the current caller of the key, for work that continues after the response. Throws the error that a request with the key
 * would get.
 */
export async function readCaller(
  queryable: Queryable,
  { nowMs, ...key }: KeyPlace & { nowMs: number },
): Promise<Caller> {
  const row = await readRow(queryable, key)
  if (row === undefined || !isActive(keyRecordFromRow(row), nowMs)) throw revoked()
  if (row.account_status !== 'active') throw accountSuspended(row.suspended_reason)
  return callerOf(row)
}

/** Tells the account why, in the words of the operator. */
export function accountSuspended(reason: string | null): AppError {
  const message = 'This account is suspended.'
  return new AppError('account_suspended', reason === null ? message : `${message} Reason: ${reason}`)
}

/** Returns the caller of a key that may be revoked or suspended meanwhile, to charge work that is already done. */
export async function readFormerCaller(queryable: Queryable, key: KeyPlace): Promise<Caller> {
  const row = await readRow(queryable, key)
  if (row === undefined) throw revoked()
  return callerOf(row)
}

interface KeyPlace {
  readonly accountId: string
  readonly keyId: string
}

async function readRow(queryable: Queryable, { accountId, keyId }: KeyPlace): Promise<CallerRow | undefined> {
  const values = [keyId, accountId]
  const [row] = await queryable.query<CallerRow>(
    `${SELECT_CALLER} WHERE k.id = $1 AND k.account_id = $2`,
    values,
  )
  return row
}

function revoked(): AppError {
  return new AppError('invalid_api_key', 'The API key that asked for this has been revoked or has expired.')
}

export function callerOf(row: CallerRow): Caller {
  const key = keyRecordFromRow(row)
  const ofProject = { requiredTags: row.project_required_tags, fixedTags: row.project_fixed_tags }
  const ofParent = { requiredTags: row.parent_required_tags, fixedTags: row.parent_fixed_tags }
  const tagRules = combineTagRules([ofProject, ofParent, key])
  const labels = listLabels(row.group_ids, tagRules?.fixed ?? NO_TAGS)
  return Object.freeze({
    accountId: key.accountId,
    projectId: key.projectId,
    keyId: key.id,
    userId: key.userId,
    serviceAccountId: key.serviceAccountId,
    groupIds: row.group_ids,
    ...(tagRules !== null && { tagRules }),
    ...(labels.length > 0 && { labels }),
    environment: key.environment,
    scopes: new Set(heldScopes(key)),
    permissions: heldPermissions(key),
    allowedModels: key.allowedModels === null ? null : new Set(key.allowedModels),
    requestsPerMinute: key.requestsPerMinute,
    limitNanoUsd: key.limitNanoUsd,
    isOperator: row.is_operator,
    ...(row.is_zero_retention && { isZeroRetention: true }),
    project: projectPolicyOf(row),
    expiresAtMs: key.expiresAtMs,
    parent:
      row.limiting_key_id === null
        ? null
        : {
            keyId: row.limiting_key_id,
            requestsPerMinute: row.parent_requests_per_minute,
            limitNanoUsd: row.parent_limit_nano_usd,
          },
  })
}
