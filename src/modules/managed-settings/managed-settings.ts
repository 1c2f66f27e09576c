import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import { checkSettings } from './check-settings.ts'
import { checksumOf } from './checksum-of.ts'
import { mergeSettings, type Settings } from './merge-settings.ts'

export { SETTINGS_BYTES_MAX } from './check-settings.ts'

export const PRIORITY_MAX = 1000
const PRIORITY_DEFAULT = 100
/** Of the account and its groups together. */
const POLICIES_MAX = 50

/** The settings that an account gives the agents of its people: all of them, or those in one group. */
export interface SettingsPolicy {
  readonly id: string
  /** Null for everybody in the account. */
  readonly groupId: string | null
  /** 1 decides. Everybody's is below all groups. */
  readonly priority: number
  readonly settings: Settings
  readonly updatedAtMs: number
}

interface ServedSettings {
  readonly settings: Settings
  readonly checksum: string
}

interface PreviewedSettings {
  /** Null where there is no policy for the person. */
  readonly served: ServedSettings | null
  /** In the order in which they are put over each other: the last one decides. */
  readonly policyIds: readonly string[]
}

export interface ManagedSettings {
  /** The settings of the caller: those of the account, and over them those of their groups. Null if there is no policy for them. */
  serve(caller: Caller): Promise<ServedSettings | null>
  /** What a member of the account gets, and of which policies. Throws `not_found` for somebody else. */
  preview(accountId: string, userId: string): Promise<PreviewedSettings>
  /** Everybody's first, then those of groups, the one that decides first. */
  list(accountId: string): Promise<readonly SettingsPolicy[]>
  /** Sets what there is for everybody or one group. Throws `not_found` for a group of another account. */
  set(caller: Caller, order: PolicyOrder): Promise<SettingsPolicy>
  delete(caller: Caller, policyId: string): Promise<void>
}

interface PolicyOrder {
  readonly groupId: string | null
  readonly settings: Settings
  readonly priority?: number | undefined
}

interface ManagedSettingsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'requireUnrestricted'>
}

export function createManagedSettings({ database, clock, keys }: ManagedSettingsOptions): ManagedSettings {
  return {
    serve: async ({ accountId, groupIds }) =>
      mergePolicies(await readPolicies(database, accountId, groupIds)),
    preview: async (accountId, userId) => {
      const rows = await readPolicies(database, accountId, await groupsOf(database, accountId, userId))
      return { served: mergePolicies(rows), policyIds: rows.map(({ id }) => id) }
    },
    list: async (accountId) => {
      const rows = await database.query<PolicyRow>(
        `SELECT ${COLUMNS} FROM managed_settings WHERE account_id = $1
         ORDER BY group_id IS NOT NULL, priority, id LIMIT $2`,
        [accountId, POLICIES_MAX],
      )
      return rows.map(policyFromRow)
    },
    set: async (caller, order) => {
      const { accountId } = caller
      checkSettings(order.settings)
      await keys.requireUnrestricted(caller)
      return database.transaction(async (transaction) => {
        await lockPolicies(transaction, accountId)
        await requireGroup(transaction, accountId, order.groupId)
        const policy = await write(transaction, accountId, order, clock.nowMs())
        await recordChange(transaction, {
          actor: caller,
          type: 'managed_settings.updated',
          projectId: null,
          resourceId: wireId('managedSettings', policy.id),
          // Not the settings themselves, which may hold secrets.
          details: {
            changes_requested: {
              group_id: policy.groupId === null ? null : wireId('group', policy.groupId),
              priority: policy.priority,
              members: Object.keys(policy.settings).slice(0, MEMBERS_TOLD_MAX),
              checksum: checksumOf(policy.settings),
            },
          },
        })
        return policy
      })
    },
    delete: async (caller, policyId) => {
      const { accountId } = caller
      if (!isUuid(policyId)) throw notFound('managed settings')
      await keys.requireUnrestricted(caller)
      await database.transaction(async (transaction) => {
        const rows = await transaction.query(
          'DELETE FROM managed_settings WHERE id = $1 AND account_id = $2 RETURNING id',
          [policyId, accountId],
        )
        if (rows.length === 0) throw notFound('managed settings')
        await recordChange(transaction, {
          actor: caller,
          type: 'managed_settings.deleted',
          projectId: null,
          resourceId: wireId('managedSettings', policyId),
        })
      })
    },
  }
}

const MEMBERS_TOLD_MAX = 50

type AppliedRow = Pick<PolicyRow, 'id' | 'settings'>

/** In the order in which they are put over each other. */
function readPolicies(
  queryable: Queryable,
  accountId: string,
  groupIds: readonly string[],
): Promise<readonly AppliedRow[]> {
  return queryable.query<AppliedRow>(
    `SELECT id, settings FROM managed_settings
     WHERE account_id = $1 AND (group_id IS NULL OR group_id = ANY ($2::uuid[]))
     ORDER BY group_id IS NOT NULL, priority DESC, id DESC`,
    [accountId, groupIds],
  )
}

function mergePolicies(rows: readonly AppliedRow[]): ServedSettings | null {
  if (rows.length === 0) return null
  const settings = rows.map((row) => row.settings).reduce((base, over) => mergeSettings(base, over))
  return { settings, checksum: checksumOf(settings) }
}

async function groupsOf(queryable: Queryable, accountId: string, userId: string): Promise<string[]> {
  const [member] = await queryable.query<{ group_ids: string[] }>(
    `SELECT array(SELECT group_id FROM group_members g WHERE g.account_id = m.account_id AND g.user_id = m.user_id) AS group_ids
     FROM account_members m WHERE m.account_id = $1 AND m.user_id = $2`,
    [accountId, userId],
  )
  if (member === undefined) throw notFound('user')
  return member.group_ids
}

/** Two at once must not go beyond the limit. */
async function lockPolicies(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('managed settings ' || $1, 0))`, [
    accountId,
  ])
}

async function requireGroup(
  transaction: Queryable,
  accountId: string,
  groupId: string | null,
): Promise<void> {
  if (groupId === null) return
  const rows = isUuid(groupId)
    ? await transaction.query('SELECT FROM groups WHERE id = $1 AND account_id = $2 FOR KEY SHARE', [
        groupId,
        accountId,
      ])
    : []
  if (rows.length === 0) throw notFound('group')
}

async function write(
  transaction: Queryable,
  accountId: string,
  { groupId, settings, priority }: PolicyOrder,
  nowMs: number,
): Promise<SettingsPolicy> {
  const [row] = await transaction.query<PolicyRow>(
    `INSERT INTO managed_settings (id, account_id, group_id, priority, settings, updated_at)
     SELECT $1, $2::uuid, $3::uuid, coalesce($4::integer, $5), $6::jsonb, $7
     WHERE (SELECT count(*) FROM managed_settings WHERE account_id = $2 AND group_id IS DISTINCT FROM $3) < $8
     ON CONFLICT (account_id, coalesce(group_id, account_id)) DO UPDATE
       SET settings = EXCLUDED.settings, updated_at = EXCLUDED.updated_at,
         priority = coalesce($4, managed_settings.priority)
     RETURNING ${COLUMNS}`,
    [
      createId(nowMs),
      accountId,
      groupId,
      priority ?? null,
      PRIORITY_DEFAULT,
      JSON.stringify(settings),
      new Date(nowMs),
      POLICIES_MAX,
    ],
  )
  if (row === undefined)
    throw new AppError('conflict', `An account has managed settings for at most ${POLICIES_MAX} groups.`)
  return policyFromRow(row)
}

interface PolicyRow {
  readonly id: string
  readonly group_id: string | null
  readonly priority: number
  readonly settings: Settings
  readonly updated_at: Date
}

const COLUMNS = 'id, group_id, priority, settings, updated_at'

function policyFromRow(row: PolicyRow): SettingsPolicy {
  return {
    id: row.id,
    groupId: row.group_id,
    priority: row.priority,
    settings: row.settings,
    updatedAtMs: row.updated_at.getTime(),
  }
}
