import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'

/** A tool that a person signed in. */
export interface Grant {
  readonly id: string
  readonly user: { readonly id: string; readonly email: string; readonly name: string | null }
  readonly project: { readonly id: string; readonly name: string } | null
  /** The hidden key of its tokens, by which usage and the audit log know it. */
  readonly keyId: string
  readonly clientId: string
  readonly ipAddress: string | null
  readonly userAgent: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
  readonly expiresAtMs: number
}

const LISTED_MAX = 200

/**
 * Of account $1: those of person $2 — in a session all of them ($4), otherwise those that work in project $5 —, and if the caller manages
 * keys ($3) those of everybody there.
 */
const IS_VISIBLE = `g.account_id = $1 AND (g.user_id = $2 AND ($4 OR $5::uuid IS NULL OR g.project_id = $5)
  OR $3 AND ($5::uuid IS NULL OR g.project_id = $5))`

const SELECT_GRANT = `
  SELECT g.*, u.email, m.name AS user_name, p.name AS project_name FROM grants g
  JOIN users u ON u.id = g.user_id JOIN account_members m ON m.account_id = g.account_id AND m.user_id = g.user_id
  LEFT JOIN projects p ON p.id = g.project_id`

/** Returns what the caller may see, newest first. */
export async function listGrants(
  queryable: Queryable,
  caller: Caller,
  { isOwn }: { readonly isOwn: boolean },
): Promise<Grant[]> {
  const rows = await queryable.query<GrantRow>(
    `${SELECT_GRANT} WHERE ${IS_VISIBLE} AND ($6::boolean IS FALSE OR g.user_id = $2) AND g.expires_at > now()
     ORDER BY g.id DESC LIMIT ${LISTED_MAX}`,
    [...visibleTo(caller), isOwn],
  )
  return rows.map(grantFromRow)
}

/** Reads a tool that the caller may end. Throws the same for one that does not exist. */
export async function readGrant(queryable: Queryable, caller: Caller, grantId: string): Promise<Grant> {
  const [row] = isUuid(grantId)
    ? await queryable.query<GrantRow>(`${SELECT_GRANT} WHERE ${IS_VISIBLE} AND g.id = $6`, [
        ...visibleTo(caller),
        grantId,
      ])
    : []
  if (row === undefined) throw notFound('signed-in tool')
  return grantFromRow(row)
}

function visibleTo({ accountId, userId = null, permissions, session, projectId }: Caller): unknown[] {
  return [accountId, userId, permissions.has('keys.manage'), session !== undefined, projectId]
}

interface GrantRow {
  readonly id: string
  readonly user_id: string
  readonly email: string
  readonly user_name: string | null
  readonly project_id: string | null
  readonly project_name: string | null
  readonly key_id: string
  readonly client_id: string
  readonly ip_address: string | null
  readonly user_agent: string
  readonly created_at: Date
  readonly last_used_at: Date
  readonly expires_at: Date
}

function grantFromRow(row: GrantRow): Grant {
  return {
    id: row.id,
    user: { id: row.user_id, email: row.email, name: row.user_name },
    project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
    keyId: row.key_id,
    clientId: row.client_id,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}
