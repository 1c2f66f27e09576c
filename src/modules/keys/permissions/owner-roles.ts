/**
 * SQL: the roles of the owner of the key in this row, as an array: of a person those in the account, in the project of the key and by
 * their groups; of a service account its own. Null for a key of the account itself. Read with the key, so that no change of a role can
 * forget a key. The row needs only the columns that name the owner and the place, so it need not be of a key.
 */
export const ownerRoles = (key: string): string => `(CASE
  WHEN ${key}.user_id IS NOT NULL THEN ARRAY(
    SELECT 'account:' || m.role FROM account_members m WHERE m.account_id = ${key}.account_id AND m.user_id = ${key}.user_id
    UNION SELECT 'project:' || j.role FROM project_members j WHERE j.project_id = ${key}.project_id AND j.user_id = ${key}.user_id
    UNION SELECT 'project:' || p.role FROM project_groups p JOIN group_members h ON h.group_id = p.group_id
      WHERE p.project_id = ${key}.project_id AND h.user_id = ${key}.user_id
    UNION SELECT ${rolesOfAssignment('a', 'r')} FROM role_assignments a LEFT JOIN roles r ON r.id = a.role_id
      WHERE a.account_id = ${key}.account_id AND (a.project_id IS NULL OR a.project_id = ${key}.project_id)
        AND (a.user_id = ${key}.user_id OR a.group_id IN (${groupsOf(key)}))
    UNION SELECT 'gateway:' || o.role FROM operators o
      WHERE o.account_id = ${key}.account_id AND o.user_id = ${key}.user_id AND ${key}.project_id IS NULL)
  WHEN ${key}.service_account_id IS NOT NULL THEN ARRAY(
    SELECT 'project:' || s.role FROM service_accounts s WHERE s.id = ${key}.service_account_id)
END)`

/** SQL: whether somebody gave the person of the key in this row the role `owner` of the account, beside the role of the member. */
export const isAssignedOwner = (key: string): string => `EXISTS (
  SELECT FROM role_assignments a WHERE a.account_id = ${key}.account_id AND a.project_id IS NULL AND a.role_name = 'owner'
    AND (a.user_id = ${key}.user_id OR a.group_id IN (${groupsOf(key)})))`

/** SQL: one row for each role or permission that an assignment gives. */
export function rolesOfAssignment(assignment: string, role: string): string {
  const place = `CASE WHEN ${assignment}.project_id IS NULL THEN 'account:' ELSE 'project:' END`
  return `unnest(CASE WHEN ${assignment}.role_name IS NULL THEN ${role}.permissions
    ELSE ARRAY[${place} || ${assignment}.role_name] END)`
}

function groupsOf(key: string): string {
  return `SELECT h.group_id FROM group_members h WHERE h.account_id = ${key}.account_id AND h.user_id = ${key}.user_id`
}
