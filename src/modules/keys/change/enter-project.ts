import { AppError, notFound } from '../../../kernel/app-error.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { isEnded } from '../authenticate/is-ended.ts'
import { createKeyToken, hashKey } from '../key-form.ts'
import { isActive, KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from '../key-record.ts'
import { isRestricted } from '../key-rights.ts'

/** The key that a session began with. */
interface OriginKey {
  readonly accountId: string
  readonly keyId: string
}

interface EnterableProject {
  readonly id: string
  readonly name: string
}

export interface EnterableProjects {
  readonly projects: readonly EnterableProject[]
  /** Whether the key itself sees the whole account. */
  readonly canSeeAccount: boolean
}

/**
 * Returns the hidden key with which a session of this key continues in a project. It has the rights of this key there, shares its limits, and
 * ends with it. Returns null for the project of the key itself. Throws `not_found` for a project that the session must not enter.
 */
export async function enterProject(
  transaction: Queryable,
  { accountId, keyId, projectId }: OriginKey & { readonly projectId: string },
  nowMs: number,
): Promise<string | null> {
  // Locked, so that a restriction that is being added reaches the hidden key too.
  const [row] = await transaction.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = $1 AND account_id = $2 FOR SHARE`,
    [keyId, accountId],
  )
  const origin = row === undefined ? null : keyRecordFromRow(row)
  if (origin === null || !isActive(origin, nowMs))
    throw new AppError('invalid_api_key', 'The API key of this session has been revoked or has expired.')
  const [project] = isUuid(projectId)
    ? await transaction.query<EnterableProject>(`${SELECT_ENTERABLE} AND r.id = $3`, [
        keyId,
        accountId,
        projectId,
      ])
    : []
  if (project === undefined) throw notFound('project')
  if (project.id === origin.projectId) return null
  const hiddenKeyId = await ensureHiddenKey(transaction, origin, project.id, nowMs)
  await updateHiddenKeys(transaction, origin)
  return hiddenKeyId
}

/** Returns the projects that a session of this key may enter, by name, `Default` first. */
export async function listEnterableProjects(
  queryable: Queryable,
  { accountId, keyId }: OriginKey,
  { search, limit }: { readonly search: string; readonly limit: number },
): Promise<EnterableProjects> {
  const [projects, [key]] = await Promise.all([
    queryable.query<EnterableProject>(
      `${SELECT_ENTERABLE} AND strpos(lower(r.name), lower($3)) > 0
       ORDER BY r.id <> r.account_id, lower(r.name), r.id LIMIT $4`,
      [keyId, accountId, search, limit],
    ),
    queryable.query<{ project_id: string | null }>('SELECT project_id FROM api_keys WHERE id = $1', [keyId]),
  ])
  return { projects, canSeeAccount: key?.project_id === null }
}

/** Gives the hidden keys that follow from this key its rights, and ends them with it. */
export async function updateHiddenKeys(transaction: Queryable, origin: KeyRecord): Promise<void> {
  await transaction.query(
    `UPDATE api_keys SET name = $2, scopes = $3, allowed_models = $4, expires_at = $5, parent_id = $6,
       revoked_at = coalesce(revoked_at, $7), required_tags = $8, fixed_tags = $9
     WHERE origin_key_id = $1`,
    [
      origin.id,
      origin.name,
      // The gateway is operated with keys of the account only.
      origin.scopes.filter((scope) => scope !== 'admin'),
      origin.allowedModels,
      origin.expiresAtMs === null ? null : new Date(origin.expiresAtMs),
      // As a key that a restricted key made. Its amounts are those of its parent.
      isRestricted(origin) ? origin.id : null,
      origin.revokedAtMs === null ? null : new Date(origin.revokedAtMs),
      origin.requiredTags,
      origin.fixedTags === null ? null : JSON.stringify(origin.fixedTags),
    ],
  )
}

async function ensureHiddenKey(
  transaction: Queryable,
  origin: KeyRecord,
  projectId: string,
  nowMs: number,
): Promise<string> {
  const [row] = await transaction.query<{ id: string }>(
    `INSERT INTO api_keys (id, account_id, user_id, project_id, name, environment, key_hash, key_prefix, scopes, created_at,
       is_of_sessions, origin_key_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, '', '{}', $8, true, $9)
     ON CONFLICT (origin_key_id, project_id) WHERE origin_key_id IS NOT NULL DO UPDATE SET revoked_at = NULL RETURNING id`,
    [
      createId(nowMs),
      origin.accountId,
      origin.userId,
      projectId,
      origin.name,
      origin.environment,
      // Nobody knows the secret.
      Buffer.from(hashKey(createKeyToken('dev')), 'hex'),
      new Date(nowMs),
      origin.id,
    ],
  )
  if (row === undefined) throw new Error('the key of a session in a project was neither found nor created')
  return row.id
}

/**
 * The projects that a session of key $1 of account $2 may enter: those in which a key of the same owner would not be refused. A key of a
 * project stays in it, unless it stands for a person. So does a key that a restricted key made, because a request counts against the
 * limits of two keys at most.
 */
const SELECT_ENTERABLE = `
  SELECT r.id, r.name FROM api_keys o JOIN projects r ON r.account_id = o.account_id
  CROSS JOIN LATERAL (SELECT o.account_id, r.id AS project_id, o.user_id, o.service_account_id) c
  WHERE o.id = $1 AND o.account_id = $2 AND NOT ${isEnded('c')}
    AND (r.id = o.project_id OR o.parent_id IS NULL AND (o.project_id IS NULL OR o.is_of_sessions))`
