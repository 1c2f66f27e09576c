import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'

export const ACCOUNT_ROLES = ['owner', 'billing', 'auditor', 'reader'] as const
export type AccountRole = (typeof ACCOUNT_ROLES)[number]

/** A person as a member of one account. It tells nothing about other accounts of the person. */
export interface AccountMember {
  /** Of the person. */
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly isActive: boolean
  readonly role: string
  /** A directory says who they are and whether they are active. */
  readonly isScimManaged: boolean
  readonly addedAtMs: number
  readonly lastUsedAtMs: number | null
  /** At most the first hundred. */
  readonly projects: readonly { readonly id: string; readonly name: string; readonly role: string }[]
}

export interface AccountMemberRow {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly status: string
  readonly role: string
  readonly is_scim_managed: boolean
  readonly added_at: Date
  readonly last_used_at: Date | null
  readonly projects: { id: string; name: string; role: string }[] | null
}

const SHOWN_PROJECTS_MAX = 100

export const SELECT_ACCOUNT_MEMBER = `
  SELECT u.id, u.email, m.name, CASE WHEN m.suspended_at IS NULL THEN u.status ELSE 'suspended' END AS status, m.role, m.added_at,
    EXISTS (SELECT FROM scim_users s WHERE s.account_id = m.account_id AND s.user_id = m.user_id) AS is_scim_managed,
    (SELECT max(k.last_used_at) FROM api_keys k WHERE k.user_id = m.user_id AND k.account_id = m.account_id) AS last_used_at,
    (SELECT json_agg(p) FROM (
       SELECT r.id, r.name, j.role FROM project_members j JOIN projects r ON r.id = j.project_id
       WHERE j.account_id = m.account_id AND j.user_id = m.user_id AND r.archived_at IS NULL
       ORDER BY r.id LIMIT ${SHOWN_PROJECTS_MAX}) p) AS projects
  FROM account_members m JOIN users u ON u.id = m.user_id`

export function accountMemberFromRow(row: AccountMemberRow): AccountMember {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    isActive: row.status === 'active',
    role: row.role,
    isScimManaged: row.is_scim_managed,
    addedAtMs: row.added_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    projects: row.projects ?? [],
  }
}

/** Throws the same for a person of another account as for an unknown one. */
export async function readAccountMember(
  queryable: Queryable,
  accountId: string,
  userId: string,
): Promise<AccountMember> {
  const [row] = isUuid(userId)
    ? await queryable.query<AccountMemberRow>(
        `${SELECT_ACCOUNT_MEMBER} WHERE m.account_id = $1 AND m.user_id = $2`,
        [accountId, userId],
      )
    : []
  if (row === undefined) throw notFound('user')
  return accountMemberFromRow(row)
}
