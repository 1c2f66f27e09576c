import { isAssignedOwner } from '../permissions/owner-roles.ts'

/**
 * SQL: whether the key in this row ended with something else: its project is archived, its person is deactivated, switched off by the directory of the account, or no longer a
 * member of the account and, directly or in a group, of the project, or its service account is deleted. Derived when a key is read, so that no change of
 * people or projects can forget a key.
 */
export const isEnded = (key: string): string => `(
  EXISTS (SELECT FROM projects r WHERE r.id = ${key}.project_id AND r.archived_at IS NOT NULL)
  OR ${key}.user_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM users u JOIN account_members m ON m.account_id = ${key}.account_id AND m.user_id = u.id
    WHERE u.id = ${key}.user_id AND u.status = 'active' AND m.suspended_at IS NULL AND (${key}.project_id IS NULL OR m.role = 'owner'
      OR ${isAssignedOwner(key)}
      OR EXISTS (SELECT FROM project_members j WHERE j.project_id = ${key}.project_id AND j.user_id = u.id)
      OR EXISTS (SELECT FROM project_groups g JOIN group_members h ON h.group_id = g.group_id AND h.user_id = u.id
        WHERE g.project_id = ${key}.project_id)))
  OR ${key}.service_account_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM service_accounts s WHERE s.id = ${key}.service_account_id AND s.deleted_at IS NULL))`
