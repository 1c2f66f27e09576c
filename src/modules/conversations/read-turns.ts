import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Reply, ReplyUsage, Turn } from './conversation.ts'

interface TurnRow {
  readonly id: string
  readonly turn_index: number
  readonly messages: readonly ChatMessage[]
  readonly created_at: Date
  readonly completed_at: Date | null
}

interface ReplyRow {
  readonly turn_id: string
  readonly lane_id: string
  readonly request_id: string
  readonly status: Reply['status']
  readonly output: string | null
  readonly reasoning: string | null
  readonly tool_calls: readonly unknown[] | null
  readonly finish_reason: string | null
  readonly usage: ReplyUsage | null
  readonly cost_nano_usd: bigint
  readonly latency_ms: number | null
  readonly ttft_ms: number | null
  readonly model: string | null
  readonly provider: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** Returns all turns of a conversation in order, with their replies in the order of the lanes. */
export async function readTurns(queryable: Queryable, conversationId: string): Promise<Turn[]> {
  const turns = await queryable.query<TurnRow>(
    `SELECT id, turn_index, messages, created_at, completed_at FROM compare_turns
     WHERE conversation_id = $1 ORDER BY turn_index`,
    [conversationId],
  )
  const replies = await queryable.query<ReplyRow>(
    `SELECT compare_replies.* FROM compare_replies JOIN compare_turns ON compare_turns.id = turn_id
       JOIN compare_conversation_lanes AS lanes ON lanes.id = lane_id
     WHERE compare_turns.conversation_id = $1 ORDER BY lanes.position`,
    [conversationId],
  )
  const byTurn = Map.groupBy(replies, (reply) => reply.turn_id)
  return turns.map((row) => ({
    id: row.id,
    conversationId,
    index: row.turn_index,
    messages: row.messages,
    replies: (byTurn.get(row.id) ?? []).map(replyFromRow),
    createdAt: row.created_at,
    completedAt: row.completed_at,
  }))
}

function replyFromRow(row: ReplyRow): Reply {
  return {
    laneId: row.lane_id,
    requestId: row.request_id,
    status: row.status,
    output: row.output ?? '',
    reasoning: row.reasoning,
    toolCalls: row.tool_calls,
    finishReason: row.finish_reason,
    usage: row.usage,
    costNanoUsd: row.cost_nano_usd,
    latencyMs: row.latency_ms,
    ttftMs: row.ttft_ms,
    model: row.model,
    provider: row.provider,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  }
}
