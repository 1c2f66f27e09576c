import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import { toStorableJson } from '../../kernel/storable-text.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { busy } from './change-conversations.ts'
import type { Conversation, Reply, Turn } from './conversation.ts'
import { readConversation } from './read-conversations.ts'
import { readTurns } from './read-turns.ts'

/** A turn that holds the lease of its conversation, so that no other turn can begin. */
export interface BegunTurn {
  readonly conversation: Conversation
  readonly turn: Omit<Turn, 'replies' | 'completedAt'>
  /** The earlier turns. */
  readonly history: readonly Turn[]
}

/** A process that does not renew the lease for this time is considered dead, and its turn is discarded. */
const LEASE_SECONDS = 30
const RENEWAL_MS = 10_000

const TURNS_MAX = 200
const HISTORY_BYTES_MAX = 16 * 1024 * 1024

interface NewTurn {
  readonly place: Place
  readonly conversationId: string
  readonly messages: readonly ChatMessage[]
  readonly nowMs: number
}

export function beginTurn(database: Database, asked: NewTurn): Promise<BegunTurn> {
  const { place, conversationId, messages, nowMs } = asked
  if (!isUuid(conversationId)) throw notFound('conversation')
  const bytes = Buffer.byteLength(JSON.stringify(messages))
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<LockedRow>(
      `SELECT history_bytes, turns_total, running_turn_id, coalesce(busy_until > now(), false) AS is_busy
       FROM compare_conversations WHERE id = $1 AND ${isWithin(place, '$2')} FOR UPDATE`,
      [conversationId, idsOf(place)],
    )
    if (row === undefined) throw notFound('conversation')
    if (row.is_busy) throw busy()
    // The client never got the end of a turn whose process died. Delete it, so that the client can send it again.
    if (row.running_turn_id !== null)
      await transaction.query('DELETE FROM compare_turns WHERE id = $1', [row.running_turn_id])
    requireRoom(row, bytes)
    const conversation = await readConversation(transaction, place, conversationId)
    const history = await readTurns(transaction, conversationId)
    const turn = {
      id: createId(nowMs),
      conversationId,
      index: (history.at(-1)?.index ?? -1) + 1,
      messages,
      createdAt: new Date(nowMs),
    }
    await transaction.query(
      `INSERT INTO compare_turns (id, conversation_id, turn_index, messages, created_at) VALUES ($1, $2, $3, $4, $5)`,
      [turn.id, conversationId, turn.index, JSON.stringify(messages), turn.createdAt],
    )
    await transaction.query(
      `UPDATE compare_conversations SET running_turn_id = $2, busy_until = now() + make_interval(secs => $3) WHERE id = $1`,
      [conversationId, turn.id, LEASE_SECONDS],
    )
    return { conversation, turn, history }
  })
}

interface LockedRow {
  readonly history_bytes: bigint
  readonly turns_total: number
  readonly running_turn_id: string | null
  readonly is_busy: boolean
}

function requireRoom({ turns_total: turns, history_bytes: kept }: LockedRow, bytes: number): void {
  const begin = 'Begin another conversation.'
  if (turns >= TURNS_MAX)
    throw new AppError('conflict', `This conversation has ${turns} turns, and may not have more. ${begin}`)
  if (Number(kept) + bytes > HISTORY_BYTES_MAX)
    throw new AppError('conflict', `This conversation would be longer than a conversation may be. ${begin}`)
}

/** Renews the lease until the returned function is called. */
export function keepHeld(database: Queryable, { conversation, turn }: BegunTurn): () => void {
  const timer = setInterval(() => {
    database
      .query(
        `UPDATE compare_conversations SET busy_until = now() + make_interval(secs => $3)
         WHERE id = $1 AND running_turn_id = $2`,
        [conversation.id, turn.id, LEASE_SECONDS],
      )
      // One renewal may fail: the lease is three times as long as the interval.
      .catch(() => {})
  }, RENEWAL_MS)
  return () => clearInterval(timer)
}

/** Stores the replies and releases the lease. */
export function finishTurn(
  database: Database,
  { conversation, turn }: BegunTurn,
  finished: Turn,
): Promise<void> {
  const { replies } = finished
  const costNanoUsd = replies.reduce((sum, reply) => sum + reply.costNanoUsd, 0n)
  const rows = toStorableJson(replies.map(toColumns))
  const bytes = Buffer.byteLength(rows) + Buffer.byteLength(JSON.stringify(turn.messages))
  return database.transaction(async (transaction) => {
    const [held] = await transaction.query(
      `UPDATE compare_conversations SET running_turn_id = NULL, busy_until = NULL, updated_at = $3,
         turns_total = turns_total + 1, history_bytes = history_bytes + $4, cost_nano_usd = cost_nano_usd + $5
       WHERE id = $1 AND running_turn_id = $2 RETURNING id`,
      [conversation.id, turn.id, finished.completedAt, bytes, costNanoUsd],
    )
    // The lease expired, and another turn has begun.
    if (held === undefined) return
    await transaction.query('UPDATE compare_turns SET completed_at = $2 WHERE id = $1', [
      turn.id,
      finished.completedAt,
    ])
    await transaction.query(INSERT_REPLIES, [turn.id, rows])
  })
}

/** Deletes a turn without replies and releases the lease. */
export function abandonTurn(database: Database, { conversation, turn }: BegunTurn): Promise<void> {
  return database.transaction(async (transaction) => {
    await transaction.query(
      `UPDATE compare_conversations SET running_turn_id = NULL, busy_until = NULL WHERE id = $1 AND running_turn_id = $2`,
      [conversation.id, turn.id],
    )
    await transaction.query('DELETE FROM compare_turns WHERE id = $1', [turn.id])
  })
}

function toColumns(reply: Reply): Record<string, unknown> {
  return {
    lane_id: reply.laneId,
    request_id: reply.requestId,
    status: reply.status,
    output: reply.output,
    reasoning: reply.reasoning,
    // Use SQL null, not JSON null.
    ...(reply.toolCalls !== null && { tool_calls: reply.toolCalls }),
    finish_reason: reply.finishReason,
    ...(reply.usage !== null && { usage: reply.usage }),
    cost_nano_usd: reply.costNanoUsd.toString(),
    latency_ms: reply.latencyMs,
    ttft_ms: reply.ttftMs,
    model: reply.model,
    provider: reply.provider,
    error_code: reply.error?.code ?? null,
    error_message: reply.error?.message ?? null,
  }
}

const INSERT_REPLIES = `
  INSERT INTO compare_replies (turn_id, lane_id, request_id, status, output, reasoning, tool_calls, finish_reason, usage,
    cost_nano_usd, latency_ms, ttft_ms, model, provider, error_code, error_message)
  SELECT $1, lane_id, request_id, status, output, reasoning, tool_calls, finish_reason, usage, cost_nano_usd, latency_ms,
    ttft_ms, model, provider, error_code, error_message
  FROM json_to_recordset($2::json) AS reply (lane_id uuid, request_id text, status text, output text, reasoning text,
    tool_calls json, finish_reason text, usage jsonb, cost_nano_usd bigint, latency_ms integer, ttft_ms integer, model text,
    provider text, error_code text, error_message text)`
