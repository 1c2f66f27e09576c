import { AppError, notFound } from '../../../kernel/app-error.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { recordChange } from '../../audit/audit.ts'
import type { Caller, Keys } from '../../keys/keys.ts'

/** Whether prompts and answers of an account or of one project may be stored. */
export interface DataRetention {
  /** @param projectId null for the account. Throws `not_found` for a project of another account. */
  isZero(accountId: string, projectId: string | null): Promise<boolean>
  /**
   * Returns when every process keeps to it. Zero retention deletes the stored bodies and switches their storage off; that stays off when
   * it ends.
   */
  set(caller: Caller, projectId: string | null, isZero: boolean): Promise<void>
}

interface DataRetentionOptions {
  readonly database: Database
  readonly keys: Pick<Keys, 'announceAccountChange' | 'requireUnrestricted'>
  /** What this process knows of the storage of bodies is read again, in every process. */
  readonly announcePolicies: (accountId: string) => Promise<void>
}

export function createDataRetention({
  database,
  keys,
  announcePolicies,
}: DataRetentionOptions): DataRetention {
  return {
    isZero: (accountId, projectId) => readIsZero(database, accountId, projectId),
    set: async (caller, projectId, isZero) => {
      const { accountId } = caller
      await keys.requireUnrestricted(caller)
      await database.transaction(async (transaction) => {
        const wasZero = await readIsZero(transaction, accountId, projectId, { forUpdate: true })
        if (wasZero === isZero) return
        await write(transaction, accountId, projectId, isZero)
        await recordChange(transaction, {
          actor: caller,
          type: 'data_retention.updated',
          projectId,
          resourceId: projectId === null ? wireId('organization', accountId) : wireId('project', projectId),
          details: { changes_requested: { retention_type: nameRetention(projectId, isZero) } },
        })
      })
      await keys.announceAccountChange(accountId)
      await announcePolicies(accountId)
    },
  }
}

/** As OpenAI's Administration API names it. Here nothing is ever kept to look for abuse, so that the usual kind is its modified one. */
export function nameRetention(projectId: string | null, isZero: boolean): RetentionType {
  if (isZero) return 'zero_data_retention'
  return projectId === null ? 'modified_abuse_monitoring' : 'organization_default'
}

export type RetentionType = 'zero_data_retention' | 'modified_abuse_monitoring' | 'organization_default'

async function readIsZero(
  queryable: Queryable,
  accountId: string,
  projectId: string | null,
  { forUpdate = false } = {},
): Promise<boolean> {
  const lock = forUpdate ? 'FOR NO KEY UPDATE' : ''
  if (projectId === null) {
    const [account] = await queryable.query<ZeroRow>(
      `SELECT is_zero_retention FROM accounts WHERE id = $1 ${lock}`,
      [accountId],
    )
    return account?.is_zero_retention ?? false
  }
  const [project] = await queryable.query<ZeroRow & { archived_at: Date | null }>(
    `SELECT is_zero_retention, archived_at FROM projects WHERE id = $1 AND account_id = $2 ${lock}`,
    [projectId, accountId],
  )
  if (project === undefined) throw notFound('project')
  if (forUpdate && project.archived_at !== null) throw new AppError('conflict', 'The project is archived.')
  return project.is_zero_retention
}

/**
 * Throws if no bodies of the account, or of this key, may be stored. Until the transaction ends, nobody changes that.
 */
export async function refuseZeroRetention(
  transaction: Queryable,
  accountId: string,
  keyId: string | null,
): Promise<void> {
  const [account] = await transaction.query<ZeroRow>(
    'SELECT is_zero_retention FROM accounts WHERE id = $1 FOR SHARE',
    [accountId],
  )
  const [project] = await transaction.query<ZeroRow>(
    `SELECT p.is_zero_retention FROM api_keys k JOIN projects p ON p.id = coalesce(k.project_id, k.account_id)
     WHERE k.id = $2 AND k.account_id = $1 FOR SHARE OF p`,
    [accountId, keyId],
  )
  const owner = account?.is_zero_retention === true ? 'account' : 'project'
  if (account?.is_zero_retention !== true && project?.is_zero_retention !== true) return
  const message = `The data retention of the ${owner} is zero_data_retention: bodies are not stored.`
  throw new AppError('conflict', message)
}

interface ZeroRow {
  readonly is_zero_retention: boolean
}

/** A body that is being written holds locks on its policy and its project, so that it is seen here or sees this. */
async function write(
  transaction: Queryable,
  accountId: string,
  projectId: string | null,
  isZero: boolean,
): Promise<void> {
  if (projectId === null) {
    await transaction.query('UPDATE accounts SET is_zero_retention = $2 WHERE id = $1', [accountId, isZero])
    if (!isZero) return
    await transaction.query('UPDATE body_policies SET is_on = false WHERE account_id = $1', [accountId])
    await transaction.query('DELETE FROM request_bodies WHERE account_id = $1', [accountId])
    await transaction.query('DELETE FROM saved_chats WHERE account_id = $1', [accountId])
    await transaction.query(REMOVE_FILES, [accountId])
    await transaction.query(END_UPLOADS, [accountId])
    return
  }
  await transaction.query('UPDATE projects SET is_zero_retention = $2 WHERE id = $1', [projectId, isZero])
  if (!isZero) return
  for (const statement of [
    SWITCH_OFF_KEYS,
    DELETE_OF_PROJECT,
    DELETE_CHATS_OF_PROJECT,
    REMOVE_FILES_OF_PROJECT,
    END_UPLOADS_OF_PROJECT,
  ])
    await transaction.query(statement, [accountId, projectId])
}

// Keys without a project work in `Default`, whose id is that of the account.
const KEYS_OF_PROJECT = `SELECT id FROM api_keys WHERE account_id = $1 AND coalesce(project_id, account_id) = $2`

const SWITCH_OFF_KEYS = `
  UPDATE body_policies SET is_on = false WHERE account_id = $1 AND scope_id IN (${KEYS_OF_PROJECT})`

const DELETE_CHATS_OF_PROJECT =
  'DELETE FROM saved_chats WHERE account_id = $1 AND coalesce(project_id, account_id) = $2'

// Nobody reads them from now on. The sweep removes them from the store.
const REMOVE_FILES =
  'UPDATE files SET expires_at = now() WHERE account_id = $1 AND (expires_at IS NULL OR expires_at > now())'
const REMOVE_FILES_OF_PROJECT = `${REMOVE_FILES} AND coalesce(project_id, account_id) = $2`
const END_UPLOADS = `UPDATE uploads SET expires_at = now() WHERE account_id = $1 AND status = 'pending' AND expires_at > now()`
const END_UPLOADS_OF_PROJECT = `${END_UPLOADS} AND coalesce(project_id, account_id) = $2`

const DELETE_OF_PROJECT = `
  DELETE FROM request_bodies WHERE account_id = $1 AND key_id IN (${KEYS_OF_PROJECT})`
