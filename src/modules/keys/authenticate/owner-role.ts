import { lookupTable } from '../../../kernel/lookup-table.ts'
import { SCOPES, type Scope } from './caller.ts'

/**
 * SQL: the role of the owner of the key in this row: of a person in the account, if they own it or the key has no project, otherwise in
 * the project of the key; or of its service account. Null for a key of the account itself. Read with the key, so that a changed role
 * applies to every key of its owner.
 */
export const ownerRole = (key: string): string => `(CASE
  WHEN ${key}.user_id IS NOT NULL THEN coalesce((
    SELECT CASE WHEN m.role = 'owner' OR ${key}.project_id IS NULL THEN m.role ELSE (
      SELECT r.role FROM (
        SELECT j.role FROM project_members j WHERE j.project_id = ${key}.project_id AND j.user_id = m.user_id
        UNION ALL SELECT g.role FROM project_groups g JOIN group_members h ON h.group_id = g.group_id
        WHERE g.project_id = ${key}.project_id AND h.user_id = m.user_id) r
      ORDER BY array_position(ARRAY['owner', 'member', 'viewer'], r.role) LIMIT 1) END
    FROM account_members m WHERE m.account_id = ${key}.account_id AND m.user_id = ${key}.user_id), 'none')
  WHEN ${key}.service_account_id IS NOT NULL THEN coalesce((
    SELECT s.role FROM service_accounts s WHERE s.id = ${key}.service_account_id), 'none')
END)`

const SCOPES_OF_ROLES = lookupTable<readonly Scope[]>({ owner: SCOPES, member: ['inference'] })

/** Returns those of the scopes of a key that the role of its owner allows. Null: the account itself, which may do everything. */
export function scopesOfRole(role: string | null, scopes: readonly Scope[]): readonly Scope[] {
  if (role === null) return scopes
  const allowed = SCOPES_OF_ROLES[role] ?? []
  return scopes.filter((scope) => allowed.includes(scope))
}
