import { invalidValue, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { TAG_LABEL, type Subject, type SubjectKind } from '../ledger/ledger.ts'

/** Finds the project of a subject that exists in the account: null for one that belongs to no project. Throws `not_found` otherwise. */
export async function findSubjectProject(
  queryable: Queryable,
  accountId: string,
  { kind, value }: Subject,
): Promise<string | null> {
  if (kind === 'account') return null
  if (kind === 'tag') {
    if (value !== null && TAG_LABEL.test(`tag:${value}`)) return null
    throw invalidValue(
      'subject.id',
      'subject.id of a tag must be name=value, as in the header x-gateway-tags.',
    )
  }
  const [row] =
    value !== null && isUuid(value)
      ? await queryable.query<{ project_id: string | null }>(FIND[kind], [accountId, value])
      : []
  if (row === undefined) throw notFound(kind.replace('_', ' '))
  return row.project_id
}

const FIND: Readonly<Record<Exclude<SubjectKind, 'account' | 'tag'>, string>> = {
  project: 'SELECT id AS project_id FROM projects WHERE account_id = $1 AND id = $2 AND archived_at IS NULL',
  group: 'SELECT NULL::uuid AS project_id FROM groups WHERE account_id = $1 AND id = $2',
  user: 'SELECT NULL::uuid AS project_id FROM account_members WHERE account_id = $1 AND user_id = $2',
  service_account:
    'SELECT project_id FROM service_accounts WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL',
  key: `SELECT coalesce(project_id, account_id) AS project_id FROM api_keys
    WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND NOT is_of_sessions`,
}
