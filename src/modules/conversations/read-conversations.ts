import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Conversation, ConversationLane } from './conversation.ts'

interface ConversationRow {
  readonly id: string
  readonly project_id: string | null
  readonly name: string | null
  readonly system: string | null
  readonly turns_total: number
  readonly cost_nano_usd: bigint
  readonly is_busy: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

interface LaneRow extends ConversationLane {
  readonly conversation_id: string
}

const COLUMNS = `id, project_id, name, system, turns_total, cost_nano_usd, coalesce(busy_until > now(), false) AS is_busy, created_at,
  updated_at`

/** Throws `not_found` also for a conversation of another account or project. */
export async function readConversation(
  queryable: Queryable,
  place: Place,
  conversationId: string,
): Promise<Conversation> {
  if (!isUuid(conversationId)) throw notFound('conversation')
  const rows = await queryable.query<ConversationRow>(
    `SELECT ${COLUMNS} FROM compare_conversations WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [conversationId, idsOf(place)],
  )
  const [conversation] = await addLanes(queryable, rows)
  if (conversation === undefined) throw notFound('conversation')
  return conversation
}

/** Returns conversations, newest first. */
export async function listConversations(
  queryable: Queryable,
  place: Place,
  { limit, afterId }: PageRequest,
): Promise<Page<Conversation>> {
  const [rows, [count]] = await Promise.all([
    queryable.query<ConversationRow>(
      `SELECT ${COLUMNS} FROM compare_conversations WHERE ${isWithin(place, '$1')} AND id < $2 ORDER BY id DESC LIMIT $3`,
      [idsOf(place), afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM compare_conversations WHERE ${isWithin(place, '$1')}`,
      [idsOf(place)],
    ),
  ])
  return {
    items: await addLanes(queryable, rows.slice(0, limit)),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

async function addLanes(queryable: Queryable, rows: readonly ConversationRow[]): Promise<Conversation[]> {
  if (rows.length === 0) return []
  const lanes = await queryable.query<LaneRow>(
    `SELECT id, conversation_id, position, model, name, params FROM compare_conversation_lanes
     WHERE conversation_id = ANY ($1::uuid[]) ORDER BY position`,
    [rows.map(({ id }) => id)],
  )
  const byConversation = Map.groupBy(lanes, (lane) => lane.conversation_id)
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    system: row.system,
    lanes: (byConversation.get(row.id) ?? []).map(({ id, position, model, name, params }) => ({
      id,
      position,
      model,
      name,
      params,
    })),
    turnsTotal: row.turns_total,
    costNanoUsd: row.cost_nano_usd,
    isBusy: row.is_busy,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}
