import { randomBytes } from 'node:crypto'
import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { AccountRole } from './account-member.ts'
import {
  giftsOf,
  INVITE_COLUMNS,
  inviteFromRow,
  type Invite,
  type InvitedProject,
  type InviteRow,
} from './invite-record.ts'
import { hashCode } from './hash-code.ts'
import type { PeopleOptions } from './people-options.ts'

interface InviteOrder {
  readonly email: string
  readonly role: AccountRole
  readonly projects: readonly InvitedProject[]
}

export interface Invites {
  /** Replaces a pending invitation of the same address. The code works once, within seven days. */
  create(caller: Caller, order: InviteOrder): Promise<{ invite: Invite; code: string }>
  read(accountId: string, inviteId: string): Promise<Invite>
  list(accountId: string, page: PageRequest): Promise<OpenPage<Invite>>
  /** Ends a pending invitation. */
  delete(caller: Caller, inviteId: string): Promise<Invite>
  /** Whether the invitation has expired without an answer. */
  isExpired(invite: Invite): boolean
}

const LIFE_MS = 7 * 24 * 60 * 60 * 1000
const PENDING_MAX = 1000
/** Ended invitations stay in the list for this long. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000
const CODE_BYTES = 32

export function createInvites(options: PeopleOptions): Invites {
  const { database, clock, keys } = options
  return {
    create: async (caller, order) => {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      const invite = await database.transaction(async (transaction) => {
        await requireNoMember(transaction, caller.accountId, order.email)
        await requireProjects(transaction, caller.accountId, order.projects)
        for (const gift of giftsOf(order)) await keys.requireMayGive(transaction, caller, gift)
        const nowMs = clock.nowMs()
        const sent = await insertInvite(transaction, { caller, order, codeHash: hashCode(code), nowMs })
        const { email, role } = order
        await recordChange(transaction, {
          actor: caller,
          type: 'invite.sent',
          projectId: null,
          resourceId: wireId('invite', sent.id),
          details: { data: { email, role } },
        })
        return sent
      })
      return { invite, code }
    },
    read: async (accountId, inviteId) => {
      const [row] = isUuid(inviteId)
        ? await database.query<InviteRow>(
            `SELECT ${INVITE_COLUMNS} FROM invites WHERE id = $1 AND account_id = $2`,
            [inviteId, accountId],
          )
        : []
      if (row === undefined) throw notFound('invite')
      return inviteFromRow(row)
    },
    list: async (accountId, { limit, afterId }) => {
      const rows = await database.query<InviteRow>(
        `SELECT ${INVITE_COLUMNS} FROM invites WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        [accountId, afterId ?? ID_AFTER_ALL, limit + 1],
      )
      return openPage(rows.map(inviteFromRow), limit)
    },
    delete: async (caller, inviteId) => {
      if (!isUuid(inviteId)) throw notFound('invite')
      return database.transaction(async (transaction) => {
        const [row] = await transaction.query<InviteRow>(
          `DELETE FROM invites WHERE id = $1 AND account_id = $2 AND accepted_at IS NULL RETURNING ${INVITE_COLUMNS}`,
          [inviteId, caller.accountId],
        )
        if (row === undefined) throw notFound('invite')
        const resourceId = wireId('invite', row.id)
        await recordChange(transaction, {
          actor: caller,
          type: 'invite.deleted',
          projectId: null,
          resourceId,
        })
        return inviteFromRow(row)
      })
    },
    isExpired: ({ acceptedAtMs, expiresAtMs }) => acceptedAtMs === null && expiresAtMs <= clock.nowMs(),
  }
}

async function requireNoMember(transaction: Queryable, accountId: string, email: string): Promise<void> {
  const members = await transaction.query(
    `SELECT FROM account_members m JOIN users u ON u.id = m.user_id
     WHERE m.account_id = $1 AND lower(u.email) = lower($2)`,
    [accountId, email],
  )
  if (members.length > 0) throw new AppError('conflict', 'This person is already a member of the account.')
}

async function requireProjects(
  transaction: Queryable,
  accountId: string,
  projects: readonly InvitedProject[],
): Promise<void> {
  const ids = [...new Set(projects.map(({ id }) => id))]
  if (!ids.every(isUuid)) throw notFound('project')
  const found = await transaction.query(
    'SELECT id FROM projects WHERE account_id = $1 AND id = ANY ($2::uuid[]) AND archived_at IS NULL',
    [accountId, ids],
  )
  if (found.length < ids.length) throw notFound('project')
}

async function insertInvite(
  transaction: Queryable,
  {
    caller: { accountId, environment, userId },
    order: { email, role, projects },
    codeHash,
    nowMs,
  }: { caller: Caller; order: InviteOrder; codeHash: Buffer; nowMs: number },
): Promise<Invite> {
  // Two invitations of one address at once must not both stay.
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('invite ' || $1 || lower($2), 0))`, [
    accountId,
    email,
  ])
  await transaction.query(
    `DELETE FROM invites WHERE account_id = $1
       AND (lower(email) = lower($2) AND accepted_at IS NULL OR expires_at < $3)`,
    [accountId, email, new Date(nowMs - KEPT_MS)],
  )
  const [row] = await transaction.query<InviteRow>(
    `INSERT INTO invites (id, account_id, email, role, projects, environment, code_hash, created_at, expires_at, invited_by)
     SELECT $1, $2::uuid, $3, $4, $5::jsonb, $6, $7, $8, $9, $11::uuid
     WHERE (SELECT count(*) FROM invites WHERE account_id = $2 AND accepted_at IS NULL) < $10
     RETURNING ${INVITE_COLUMNS}`,
    [
      createId(nowMs),
      accountId,
      email,
      role,
      JSON.stringify(projects),
      environment,
      codeHash,
      new Date(nowMs),
      new Date(nowMs + LIFE_MS),
      PENDING_MAX,
      userId ?? null,
    ],
  )
  if (row === undefined)
    throw new AppError('conflict', `An account has at most ${PENDING_MAX} invitations that are not accepted.`)
  return inviteFromRow(row)
}
