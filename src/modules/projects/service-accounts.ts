import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller, Keys, Scope } from '../keys/keys.ts'
import type { ProjectOptions } from './project-options.ts'
import { readProject, requireActive } from './read-project.ts'

export const SERVICE_ACCOUNT_ROLES = ['owner', 'member'] as const
type ServiceAccountRole = (typeof SERVICE_ACCOUNT_ROLES)[number]

/** An owner of keys that is not a person: a program, a pipeline. */
export interface ServiceAccount {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly createdAtMs: number
}

type IssuedKey = Awaited<ReturnType<Keys['create']>>

interface ProjectPlace {
  readonly caller: Caller
  readonly projectId: string
}

interface KeyOrder {
  readonly name: string
  readonly scopes?: readonly Scope[]
  readonly expiresInSeconds?: number | null
}

/** All functions throw `not_found` for a project of another account, and for a service account that is not in it. */
export interface ServiceAccounts {
  /** Also makes its first key, unless the order is null. */
  create(
    place: ProjectPlace,
    name: string,
    order: KeyOrder | null,
  ): Promise<{ account: ServiceAccount; key: IssuedKey | null }>
  list(accountId: string, projectId: string, page: PageRequest): Promise<OpenPage<ServiceAccount>>
  read(accountId: string, projectId: string, id: string): Promise<ServiceAccount>
  change(
    place: ProjectPlace,
    id: string,
    changes: { name?: string | undefined; role?: ServiceAccountRole | undefined },
  ): Promise<ServiceAccount>
  /** Returns after every process refuses its keys. */
  delete(place: ProjectPlace, id: string): Promise<void>
  /** Makes a key with at most the rights of the calling key. */
  createKey(place: ProjectPlace, id: string, order: KeyOrder): Promise<IssuedKey>
}

const SERVICE_ACCOUNTS_MAX = 1000
const SECOND_MS = 1000

export function createServiceAccounts(options: ProjectOptions): ServiceAccounts {
  const { database, clock, keys } = options
  const issueKey = async (
    transaction: Queryable,
    { caller, projectId }: ProjectPlace,
    serviceAccountId: string,
    { name, scopes = ['inference'], expiresInSeconds = null }: KeyOrder,
  ): Promise<IssuedKey> =>
    keys.createWithin(transaction, caller, caller.accountId, {
      name,
      projectId,
      serviceAccountId,
      scopes,
      ...(expiresInSeconds !== null && { expiresAtMs: clock.nowMs() + expiresInSeconds * SECOND_MS }),
    })
  return {
    create: async (place, name, order) => {
      const created = await database.transaction(async (transaction) => {
        const account = await insertServiceAccount(transaction, place, name, clock.nowMs())
        await record(transaction, place, 'service_account.created', account.id, {
          data: { name, role: account.role },
        })
        const key = order === null ? null : await issueKey(transaction, place, account.id, order)
        return { account, key }
      })
      if (created.key !== null) void keys.announceNewKeys({ keyId: created.key.record.id })
      return created
    },
    list: async (accountId, projectId, { limit, afterId }) => {
      const { id } = await readProject(database, accountId, projectId)
      const rows = await database.query<ServiceAccountRow>(
        `SELECT ${COLUMNS} FROM service_accounts WHERE project_id = $1 AND deleted_at IS NULL AND id < $2
         ORDER BY id DESC LIMIT $3`,
        [id, afterId ?? ID_AFTER_ALL, limit + 1],
      )
      return openPage(rows.map(serviceAccountFromRow), limit)
    },
    read: async (accountId, projectId, id) => {
      const project = await readProject(database, accountId, projectId)
      return readServiceAccount(database, project.id, id)
    },
    change: async (place, id, { name, role }) => {
      const { caller, projectId } = place
      const { accountId } = caller
      const changed = await database.transaction(async (transaction) => {
        await requireActive(transaction, accountId, projectId)
        const before = await readServiceAccount(transaction, projectId, id)
        if (role !== undefined) {
          const roles = [`project:${before.role}`, `project:${role}`]
          await keys.requireMayGive(transaction, caller, { projectId, roles })
        }
        const [row] = await transaction.query<ServiceAccountRow>(
          `UPDATE service_accounts SET name = $2, role = $3 WHERE id = $1 RETURNING ${COLUMNS}`,
          [before.id, name ?? before.name, role ?? before.role],
        )
        if (row === undefined) throw notFound('service account')
        if (name !== undefined || role !== undefined) {
          const changes = { changes_requested: { name, role } }
          await record(transaction, place, 'service_account.updated', before.id, changes)
        }
        return serviceAccountFromRow(row)
      })
      if (role !== undefined) await keys.announceAccountChange(accountId)
      return changed
    },
    delete: async (place, id) => {
      const { caller, projectId } = place
      const { accountId } = caller
      await database.transaction(async (transaction) => {
        const project = await readProject(transaction, accountId, projectId)
        const { id: found } = await readServiceAccount(transaction, project.id, id)
        const at = new Date(clock.nowMs())
        await transaction.query('UPDATE service_accounts SET deleted_at = $2 WHERE id = $1', [found, at])
        await transaction.query(
          'UPDATE api_keys SET revoked_at = $2 WHERE service_account_id = $1 AND revoked_at IS NULL',
          [found, at],
        )
        await record(transaction, place, 'service_account.deleted', found)
      })
      await keys.announceAccountChange(accountId)
    },
    createKey: async (place, id, order) => {
      const key = await database.transaction(async (transaction) => {
        const project = await readProject(transaction, place.caller.accountId, place.projectId)
        const owner = await readServiceAccount(transaction, project.id, id)
        return issueKey(transaction, place, owner.id, order)
      })
      void keys.announceNewKeys({ keyId: key.record.id })
      return key
    },
  }
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: ProjectPlace,
  type: AccountChange['type'],
  id: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  const resourceId = wireId('serviceAccount', id)
  return recordChange(transaction, { actor, type, projectId, resourceId, details })
}

async function insertServiceAccount(
  transaction: Queryable,
  { caller: { accountId }, projectId }: ProjectPlace,
  name: string,
  nowMs: number,
): Promise<ServiceAccount> {
  await requireActive(transaction, accountId, projectId)
  const [row] = await transaction.query<ServiceAccountRow>(
    `INSERT INTO service_accounts (id, account_id, project_id, name, role, created_at)
     SELECT $1, $2::uuid, $3::uuid, $4, 'member', $5
     WHERE (SELECT count(*) FROM service_accounts WHERE project_id = $3 AND deleted_at IS NULL) < $6
     RETURNING ${COLUMNS}`,
    [createId(nowMs), accountId, projectId, name, new Date(nowMs), SERVICE_ACCOUNTS_MAX],
  )
  if (row === undefined)
    throw new AppError('conflict', `A project has at most ${SERVICE_ACCOUNTS_MAX} service accounts.`)
  return serviceAccountFromRow(row)
}

interface ServiceAccountRow {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly created_at: Date
}

const COLUMNS = 'id, name, role, created_at'

function serviceAccountFromRow({ created_at: createdAt, ...row }: ServiceAccountRow): ServiceAccount {
  return { ...row, createdAtMs: createdAt.getTime() }
}

async function readServiceAccount(
  queryable: Queryable,
  projectId: string,
  id: string,
): Promise<ServiceAccount> {
  const [row] = isUuid(id)
    ? await queryable.query<ServiceAccountRow>(
        `SELECT ${COLUMNS} FROM service_accounts WHERE id = $1 AND project_id = $2 AND deleted_at IS NULL`,
        [id, projectId],
      )
    : []
  if (row === undefined) throw notFound('service account')
  return serviceAccountFromRow(row)
}
