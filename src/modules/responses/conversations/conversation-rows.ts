import { isRecord } from '../../../kernel/is-record.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../../storage/place.ts'
import type { ItemPageRequest } from '../list-input-items.ts'
import type { Item } from '../response-items.ts'

export interface ConversationRecord {
  readonly id: string
  readonly createdAt: Date
  readonly metadata: Readonly<Record<string, unknown>>
  /** How many items were ever added. */
  readonly added: number
}

/** A conversation as it is asked for: only within the place. */
interface AskedConversation {
  readonly place: Place
  readonly id: string
}

interface KeptConversation extends AskedConversation {
  readonly retentionMs: number
}

export async function insertConversation(
  queryable: Queryable,
  { place, id, retentionMs, metadata }: KeptConversation & { readonly metadata: string },
): Promise<void> {
  await queryable.query(
    `INSERT INTO response_conversations (account_id, project_id, id, metadata, expires_at)
     VALUES ($1, $5, $2, $3, now() + $4 * interval '1 millisecond')`,
    [place.accountId, id, metadata, retentionMs, place.projectId],
  )
}

interface ConversationRow {
  readonly id: string
  readonly created_at: Date
  readonly metadata: string
  readonly added: bigint
}

/** Returns null for a conversation that is unknown, expired, deleted or of another account or project. */
export async function readConversation(
  queryable: Queryable,
  { place, id }: AskedConversation,
): Promise<ConversationRecord | null> {
  const [row] = await queryable.query<ConversationRow>(
    `SELECT id, created_at, metadata, added FROM response_conversations
     WHERE ${isWithin(place, '$1')} AND id = $2 AND expires_at > now()`,
    [idsOf(place), id],
  )
  if (row === undefined) return null
  const metadata: unknown = JSON.parse(row.metadata)
  return {
    id: row.id,
    createdAt: row.created_at,
    metadata: isRecord(metadata) ? metadata : {},
    added: Number(row.added),
  }
}

export async function updateMetadata(
  queryable: Queryable,
  { place, id }: AskedConversation,
  metadata: string,
): Promise<boolean> {
  const rows = await queryable.query(
    `UPDATE response_conversations SET metadata = $3
     WHERE ${isWithin(place, '$1')} AND id = $2 AND expires_at > now() RETURNING 1 AS one`,
    [idsOf(place), id, metadata],
  )
  return rows.length > 0
}

export async function deleteConversation(
  queryable: Queryable,
  { place, id }: AskedConversation,
): Promise<boolean> {
  const rows = await queryable.query(
    `DELETE FROM response_conversations
     WHERE ${isWithin(place, '$1')} AND id = $2 AND expires_at > now() RETURNING 1 AS one`,
    [idsOf(place), id],
  )
  return rows.length > 0
}

/** Adds items behind the last one, and keeps the conversation longer. Returns false if there is no such conversation. */
export async function insertItems(
  queryable: Queryable,
  { place, id, retentionMs }: KeptConversation,
  rows: readonly { readonly id: string; readonly item: string }[],
): Promise<boolean> {
  const found = await queryable.query(insertItemsWithin(place), [
    idsOf(place),
    id,
    rows.map((row) => row.id),
    rows.map(({ item }) => item),
    rows.length,
    retentionMs,
  ])
  return found.length > 0
}

// The update locks the conversation, so that concurrent additions get different positions.
const insertItemsWithin = (place: Place): string => `
  WITH extended AS (
    UPDATE response_conversations SET added = added + $5, expires_at = now() + $6 * interval '1 millisecond'
    WHERE ${isWithin(place, '$1')} AND id = $2 AND expires_at > now()
    RETURNING account_id, added
  ), inserted AS (
    INSERT INTO response_conversation_items (account_id, conversation_id, position, id, item)
    SELECT extended.account_id, $2, extended.added - $5 + given.number, given.id, given.item
    FROM extended, unnest($3::text[], $4::text[]) WITH ORDINALITY AS given (id, item, number)
  )
  SELECT 1 AS one FROM extended`

export async function readItem(
  queryable: Queryable,
  { place, id }: AskedConversation,
  itemId: string,
): Promise<Item | null> {
  const [row] = await queryable.query<{ item: string }>(
    `SELECT items.item FROM response_conversation_items AS items JOIN response_conversations AS conversation
       ON conversation.account_id = items.account_id AND conversation.id = items.conversation_id
     WHERE ${isWithin(place, '$1', 'conversation')} AND items.conversation_id = $2 AND items.id = $3 AND conversation.expires_at > now()
     ORDER BY items.position DESC LIMIT 1`,
    [idsOf(place), id, itemId],
  )
  return row === undefined ? null : parseItem(row.item)
}

export async function deleteItem(
  queryable: Queryable,
  { place, id }: AskedConversation,
  itemId: string,
): Promise<boolean> {
  const rows = await queryable.query(
    `DELETE FROM response_conversation_items
     WHERE account_id = $1 AND conversation_id = $2 AND id = $3 RETURNING 1 AS one`,
    [place.accountId, id, itemId],
  )
  return rows.length > 0
}

/** Returns null if the item after which the page begins is unknown. */
export async function readItems(
  queryable: Queryable,
  { place, id }: AskedConversation,
  { limit, order, after }: ItemPageRequest,
): Promise<Item[] | null> {
  const position = after === null ? null : await readPosition(queryable, { place, id }, after)
  if (after !== null && position === null) return null
  const rows = await queryable.query<{ item: string }>(order === 'asc' ? READ_ASCENDING : READ_DESCENDING, [
    place.accountId,
    id,
    position,
    limit,
  ])
  return rows.map(({ item }) => parseItem(item))
}

const READ_ASCENDING = `
  SELECT item FROM response_conversation_items
  WHERE account_id = $1 AND conversation_id = $2 AND ($3::bigint IS NULL OR position > $3)
  ORDER BY position LIMIT $4`

const READ_DESCENDING = `
  SELECT item FROM response_conversation_items
  WHERE account_id = $1 AND conversation_id = $2 AND ($3::bigint IS NULL OR position < $3)
  ORDER BY position DESC LIMIT $4`

async function readPosition(
  queryable: Queryable,
  { place, id }: AskedConversation,
  itemId: string,
): Promise<bigint | null> {
  const [row] = await queryable.query<{ position: bigint }>(
    `SELECT max(position) AS position FROM response_conversation_items
     WHERE account_id = $1 AND conversation_id = $2 AND id = $3`,
    [place.accountId, id, itemId],
  )
  return row?.position ?? null
}

/** Returns null for an unknown conversation. Does not read the items. */
export async function sizeOfItems(
  queryable: Queryable,
  { place, id }: AskedConversation,
): Promise<{ readonly bytes: number; readonly count: number } | null> {
  const [row] = await queryable.query<{ bytes: bigint; count: bigint }>(
    `SELECT coalesce(sum(octet_length(items.item)), 0)::bigint AS bytes, count(items.position) AS count
     FROM response_conversations AS conversation LEFT JOIN response_conversation_items AS items
       ON items.account_id = conversation.account_id AND items.conversation_id = conversation.id
     WHERE ${isWithin(place, '$1', 'conversation')} AND conversation.id = $2 AND conversation.expires_at > now()
     GROUP BY conversation.id`,
    [idsOf(place), id],
  )
  return row === undefined ? null : { bytes: Number(row.bytes), count: Number(row.count) }
}

function parseItem(text: string): Item {
  const value: unknown = JSON.parse(text)
  return isRecord(value) ? value : {}
}

const BATCH_ROWS = 500
const BATCHES_MAX = 40

/** Deletes expired conversations in small batches. Any process does this for all. */
export async function sweepConversations(database: Database): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query(DELETE_BATCH, [BATCH_ROWS])
    if (rows.length === 0) return
  }
}

const DELETE_BATCH = `
  DELETE FROM response_conversations USING (
    SELECT account_id, id FROM response_conversations WHERE expires_at <= now()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) AS expired
  WHERE response_conversations.account_id = expired.account_id AND response_conversations.id = expired.id
  RETURNING 1 AS one`
