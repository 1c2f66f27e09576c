import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin } from '../../storage/place.ts'
import type { Caller } from '../keys/keys.ts'
import { refuseZeroRetention } from '../request-log/request-log.ts'
import { chatFromRow, COLUMNS, ownerOf, type ChatRow, type SavedChat } from './chat-row.ts'
import { openContent, placeOf, sealContent, type ChatContent } from './seal-chat.ts'

export { SEALED_CHATS, CONTENT_BYTES_MAX } from './seal-chat.ts'
export { CHAT_KINDS, type SavedChat } from './chat-row.ts'

/** Prompts and conversations that people keep: private, or for everybody in their project. */
export interface SavedChats {
  /** What the caller keeps, and what others share with them, the last changed first. */
  list(caller: Caller, filter: ChatFilter, page: PageRequest): Promise<Page<SavedChat>>
  /** Throws `not_found` for what others keep for themselves, too. */
  read(caller: Caller, id: string): Promise<SavedChat & { readonly content: ChatContent }>
  /** Throws `conflict` under zero data retention, and if there is no room. */
  save(caller: Caller, order: ChatOrder): Promise<SavedChat>
  /** Only its owner changes it. */
  change(caller: Caller, id: string, changes: ChatChanges): Promise<SavedChat>
  /** Its owner deletes it, and whoever manages the project what is shared in it. */
  delete(caller: Caller, id: string): Promise<SavedChat>
}

interface ChatFilter {
  readonly kind: SavedChat['kind'] | null
}

interface ChatOrder {
  readonly kind: SavedChat['kind']
  readonly name: string
  readonly isShared: boolean
  readonly content: ChatContent
}

type ChatChanges = Partial<Omit<ChatOrder, 'kind'>>

interface SavedChatsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly sealer: Sealer
}

/** Conversations are a history: they expire this long after their last change. Prompts are kept. */
const CONVERSATION_DAYS = 30
const DAY_MS = 86_400_000
/** Of one person and kind. */
const OWN_MAX = 200
const ACCOUNT_BYTES_MAX = 64 * 1024 * 1024
/** Of one person, so that nobody takes the room of all others. */
const OWN_BYTES_MAX = ACCOUNT_BYTES_MAX / 4

export function createSavedChats({ database, clock, sealer }: SavedChatsOptions): SavedChats {
  return {
    list: async (caller, { kind }, { limit, afterId }) => {
      const visible = `${visibleTo(caller)} AND ($3::text IS NULL OR kind = $3)`
      const values = [idsOf(caller), ownerOf(caller), kind]
      const [rows, [counted]] = await Promise.all([
        database.query<ChatRow>(
          `SELECT ${COLUMNS} FROM saved_chats WHERE ${visible}
             AND ($4::uuid IS NULL OR (updated_at, id) <
               (SELECT updated_at, id FROM saved_chats WHERE account_id = $6 AND id = $4::uuid))
           ORDER BY updated_at DESC, id DESC LIMIT $5`,
          [...values, afterId, limit + 1, caller.accountId],
        ),
        database.query<{ total: bigint }>(
          `SELECT count(*) AS total FROM saved_chats WHERE ${visible}`,
          values,
        ),
      ])
      const items = rows.slice(0, limit).map((row) => chatFromRow(row, caller, sealer))
      return { items, total: Number(counted?.total ?? 0), hasMore: rows.length > limit }
    },
    read: async (caller, id) => {
      const row = await readRow(database, caller, id)
      const [sealed] = await database.query<{ content: Buffer }>(
        'SELECT content FROM saved_chats WHERE account_id = $1 AND id = $2',
        [caller.accountId, id],
      )
      const content =
        sealed === undefined ? null : await openContent(sealer, caller.accountId, id, sealed.content)
      if (content === null) throw notFound('saved chat')
      return { ...chatFromRow(row, caller, sealer), content }
    },
    save: async (caller, order) => {
      const nowMs = clock.nowMs()
      const id = createId(nowMs)
      const { accountId, projectId, keyId, userId = null } = caller
      const content = await sealContent(sealer, accountId, id, order.content)
      await database.transaction(async (transaction) => {
        await refuseZeroRetention(transaction, accountId, keyId)
        await lockRoom(transaction, accountId)
        await makeRoom(transaction, caller, order.kind)
        await requireRoom(transaction, caller, id, content.length)
        await transaction.query(
          `INSERT INTO saved_chats (account_id, id, project_id, owner_id, user_id, kind, is_shared, name, content, created_at,
             updated_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)`,
          [
            accountId,
            id,
            projectId,
            ownerOf(caller),
            userId,
            order.kind,
            order.isShared,
            sealer.seal(order.name, placeOf('name', accountId, id)),
            content,
            new Date(nowMs),
            expiryOf(order.kind, nowMs),
          ],
        )
      })
      return chatFromRow(await readRow(database, caller, id), caller, sealer)
    },
    change: async (caller, id, { name, isShared, content }) => {
      const { accountId } = caller
      const sealed = content === undefined ? null : await sealContent(sealer, accountId, id, content)
      return database.transaction(async (transaction) => {
        await refuseZeroRetention(transaction, accountId, caller.keyId)
        await lockRoom(transaction, accountId)
        const { kind } = await requireOwn(transaction, caller, id)
        if (sealed !== null) await requireRoom(transaction, caller, id, sealed.length)
        const nowMs = clock.nowMs()
        await transaction.query(
          `UPDATE saved_chats SET name = coalesce($3, name), is_shared = coalesce($4, is_shared), content = coalesce($5, content),
             updated_at = $6, expires_at = $7
           WHERE account_id = $1 AND id = $2`,
          [
            accountId,
            id,
            name === undefined ? null : sealer.seal(name, placeOf('name', accountId, id)),
            isShared ?? null,
            sealed,
            new Date(nowMs),
            expiryOf(kind, nowMs),
          ],
        )
        return chatFromRow(await readRow(transaction, caller, id), caller, sealer)
      })
    },
    delete: async (caller, id) =>
      database.transaction(async (transaction) => {
        const row = await readRow(transaction, caller, id, 'FOR UPDATE')
        if (row.owner_id !== ownerOf(caller) && !caller.permissions.has('projects.manage'))
          throw new AppError(
            'forbidden',
            'Only the person who saved it and whoever manages the project delete it.',
          )
        await transaction.query('DELETE FROM saved_chats WHERE account_id = $1 AND id = $2', [
          caller.accountId,
          id,
        ])
        return chatFromRow(row, caller, sealer)
      }),
  }
}

/** Deletes conversations that have expired, and what nobody can read any more: what a key of no person kept for itself before it was revoked. */
export async function sweepSavedChats(queryable: Queryable): Promise<void> {
  await queryable.query('DELETE FROM saved_chats WHERE expires_at <= now()')
  await queryable.query(
    `DELETE FROM saved_chats chat WHERE user_id IS NULL AND NOT is_shared AND NOT EXISTS (
       SELECT FROM api_keys WHERE account_id = chat.account_id AND id = chat.owner_id AND revoked_at IS NULL)`,
  )
}

function expiryOf(kind: SavedChat['kind'], nowMs: number): Date | null {
  return kind === 'conversation' ? new Date(nowMs + CONVERSATION_DAYS * DAY_MS) : null
}

/** SQL: what a caller sees. $1 are the ids of the place, $2 is the owner. */
function visibleTo(caller: Caller): string {
  return `${isWithin(caller, '$1')} AND (is_shared OR owner_id = $2) AND (expires_at IS NULL OR expires_at > now())`
}

async function readRow(queryable: Queryable, caller: Caller, id: string, suffix = ''): Promise<ChatRow> {
  if (!isUuid(id)) throw notFound('saved chat')
  const [row] = await queryable.query<ChatRow>(
    `SELECT ${COLUMNS} FROM saved_chats WHERE ${visibleTo(caller)} AND id = $3 ${suffix}`,
    [idsOf(caller), ownerOf(caller), id],
  )
  if (row === undefined) throw notFound('saved chat')
  return row
}

async function requireOwn(transaction: Queryable, caller: Caller, id: string): Promise<ChatRow> {
  const row = await readRow(transaction, caller, id, 'FOR UPDATE')
  if (row.owner_id !== ownerOf(caller))
    throw new AppError('forbidden', 'Only the person who saved it changes it. Save a copy of your own.')
  return row
}

/** A history keeps the newest; prompts are not deleted for others. */
async function makeRoom(transaction: Queryable, caller: Caller, kind: SavedChat['kind']): Promise<void> {
  const values = [caller.accountId, ownerOf(caller), kind]
  if (kind === 'conversation') {
    await transaction.query(
      `DELETE FROM saved_chats WHERE account_id = $1 AND id IN (
         SELECT id FROM saved_chats WHERE account_id = $1 AND owner_id = $2 AND kind = $3
         ORDER BY updated_at DESC, id DESC OFFSET $4)`,
      [...values, OWN_MAX - 1],
    )
    return
  }
  const [counted] = await transaction.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM saved_chats WHERE account_id = $1 AND owner_id = $2 AND kind = $3',
    values,
  )
  if (Number(counted?.total ?? 0) >= OWN_MAX)
    throw new AppError('conflict', `You keep ${OWN_MAX} prompts, which is the most. Delete one first.`)
}

/** Until the transaction ends nobody else takes room, so that those who save at once do not all find the same. */
async function lockRoom(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('saved chats ' || $1, 0))`, [
    accountId,
  ])
}

/** Throws if there is no room for so many bytes in the row with this id. */
async function requireRoom(transaction: Queryable, caller: Caller, id: string, bytes: number): Promise<void> {
  const [kept] = await transaction.query<{ total: bigint | null; own: bigint | null }>(
    `SELECT sum(octet_length(content)) AS total, sum(octet_length(content)) FILTER (WHERE owner_id = $2) AS own
     FROM saved_chats WHERE account_id = $1 AND id <> $3`,
    [caller.accountId, ownerOf(caller), id],
  )
  const limits = [
    ['You keep', kept?.own, OWN_BYTES_MAX],
    ['The account keeps', kept?.total, ACCOUNT_BYTES_MAX],
  ] as const
  for (const [subject, used, bytesMax] of limits)
    if (Number(used ?? 0) + bytes > bytesMax)
      throw new AppError(
        'conflict',
        `${subject} ${bytesMax / 1024 / 1024} MiB of prompts and conversations, which is the most. Delete some first.`,
      )
}
