import { Type, type Static } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type {
  Conversation,
  ConversationLane,
  Reply,
  Turn,
} from '../../../modules/conversations/conversations.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { CostUsd, CreatedAt, ModelId, UpdatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { ChatRequest, type ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import { errorTypeOf } from '../../answers/error-envelope.ts'

const Uuid = Type.String({ format: 'uuid' })
const Timestamp = Type.String({ format: 'date-time' })
const Message = ChatRequest.properties.messages.items

const MESSAGES_MAX = 64

export const TurnRequest = Type.Object(
  {
    content: described(Message.properties.content, 'The text of the message, or its parts.'),
    role: nullable(
      Type.Enum(['user', 'system', 'developer', 'assistant', 'tool'], { description: '`user` unless told.' }),
    ),
    tool_call_id: nullable(Type.String({ description: 'With the role `tool`: the call that is answered.' })),
    messages: nullable(
      Type.Array(Message, {
        minItems: 1,
        maxItems: MESSAGES_MAX,
        description: 'Instead of `content`, where one message is not enough.',
      }),
    ),
    lane_ids: nullable(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: 10,
        description: 'Tells these lanes only; the others never hear of it.',
      }),
    ),
    stream: nullable(
      Type.Boolean({ description: 'Answer with Server-Sent Events, each with its `lane_id`.' }),
    ),
  },
  { title: 'TurnRequest', examples: [{ content: 'And why is it red in the evening?' }] },
)

const ReplyAnswer = Type.Object({
  lane_id: described(Uuid, 'The id of the lane.'),
  model: ModelId,
  name: Type.String({ description: 'The name of the lane.' }),
  request_id: Type.String({ description: 'Of the usage record.' }),
  status: Type.Enum(['running', 'completed', 'failed'], { description: 'The state it is in.' }),
  output: Type.String({ description: 'The text; of a reply that failed, what came until then.' }),
  message: Type.Object(
    {
      role: Type.Literal('assistant', { description: 'Who wrote the message.' }),
      content: orNull(Type.String(), 'The text of the message, or its parts.'),
    },
    { description: 'The same as it is sent with the next turn.' },
  ),
  finish_reason: orNull(
    Type.String(),
    'Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter`.',
  ),
  usage: orNull(Type.Record(Type.String(), Type.Unknown()), 'What was used, and what it cost.'),
  cost_usd: CostUsd,
  latency_ms: orNull(Type.Integer(), 'Milliseconds until the answer was complete.'),
  ttft_ms: orNull(Type.Integer({ description: 'Until the first token.' })),
  provider: orNull(Type.String(), 'The upstream that served it.'),
  error: orNull(
    Type.Object({
      message: Type.String({ description: 'What went wrong, in words.' }),
      type: Type.String({ description: 'The class of the error.' }),
      code: Type.String({ description: 'The code of the error, for programs.' }),
    }),
    'Why it failed. `null` when it did not.',
  ),
})

export const TurnAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('compare.turn'),
    conversation_id: described(Uuid, 'The conversation it belongs to.'),
    index: Type.Integer({ description: 'Its position, from 0.' }),
    messages: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'The conversation so far, oldest message first.',
    }),
    replies: Type.Array(ReplyAnswer, { description: 'One a lane, in the order of lanes.' }),
    cost_usd: CostUsd,
    created_at: CreatedAt,
    completed_at: orNull(Timestamp, 'When it ended. `null` until then.'),
  },
  { title: 'CompareTurn' },
)

const LaneAnswer = Type.Object({
  id: UuidId,
  model: ModelId,
  name: Type.String({ description: 'The name of the lane.' }),
  params: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The parameters that the lane sends with each request.',
  }),
})

export const ConversationAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('compare.conversation'),
    name: orNull(Type.String(), 'The name that people gave it.'),
    system: orNull(Type.String(), 'The system prompt.'),
    status: Type.Enum(['idle', 'running'], { description: 'Running while a turn is being answered.' }),
    models: Type.Array(Type.String(), { description: 'The models of its lanes.' }),
    lanes: Type.Array(LaneAnswer, { description: 'The lanes: models with their parameters, side by side.' }),
    turns_total: Type.Integer({ description: 'How many turns there are.' }),
    cost_usd: CostUsd,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    turns: Type.Optional(Type.Array(TurnAnswer, { description: 'Where one conversation is read.' })),
  },
  { title: 'CompareConversation' },
)

/** Returns the messages of the turn, which are sent to each lane. */
export function readTurnMessages(body: Static<typeof TurnRequest>): ChatMessage[] {
  const { content = null, role, messages = null, tool_call_id: toolCallId = null } = body
  if (messages !== null) {
    if (content !== null) throw invalidValue('messages', "Send either 'content' or 'messages', not both.")
    return messages
  }
  if (content === null)
    throw new AppError('missing_required_parameter', "'content' is required.", { param: 'content' })
  return [{ role: role ?? 'user', content, ...(toolCallId !== null && { tool_call_id: toolCallId }) }]
}

export function toConversationAnswer(
  conversation: Conversation,
  turns: readonly Turn[] | null = null,
): Record<string, unknown> {
  const { lanes } = conversation
  return {
    id: conversation.id,
    object: 'compare.conversation',
    name: conversation.name,
    system: conversation.system,
    status: conversation.isBusy ? 'running' : 'idle',
    models: lanes.map(({ model }) => model),
    lanes: lanes.map(({ id, model, name, params }) => ({ id, model, name, params })),
    turns_total: conversation.turnsTotal,
    cost_usd: usdFromNanoUsd(conversation.costNanoUsd),
    created_at: toTimestamp(conversation.createdAt.getTime()),
    updated_at: toTimestamp(conversation.updatedAt.getTime()),
    ...(turns !== null && { turns: turns.map((turn) => toTurnAnswer(turn, lanes)) }),
  }
}

export function toTurnAnswer(turn: Turn, lanes: readonly ConversationLane[]): Record<string, unknown> {
  return {
    id: turn.id,
    object: 'compare.turn',
    conversation_id: turn.conversationId,
    index: turn.index,
    messages: turn.messages,
    replies: turn.replies.map((reply) => toReplyAnswer(reply, lanes)),
    cost_usd: usdFromNanoUsd(costOfTurn(turn)),
    created_at: toTimestamp(turn.createdAt.getTime()),
    completed_at: turn.completedAt === null ? null : toTimestamp(turn.completedAt.getTime()),
  }
}

function costOfTurn({ replies }: Turn): bigint {
  return replies.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)
}

function toReplyAnswer(reply: Reply, lanes: readonly ConversationLane[]): Record<string, unknown> {
  const lane = lanes.find(({ id }) => id === reply.laneId)
  const { error, usage, costNanoUsd, reasoning, toolCalls, output } = reply
  const costUsd = usdFromNanoUsd(costNanoUsd)
  return {
    lane_id: reply.laneId,
    model: lane?.model ?? '',
    name: lane?.name ?? '',
    request_id: reply.requestId,
    status: reply.status,
    output,
    message: {
      role: 'assistant',
      content: output === '' && toolCalls !== null ? null : output,
      ...(reasoning !== null && { reasoning_content: reasoning }),
      ...(toolCalls !== null && { tool_calls: toolCalls }),
    },
    finish_reason: reply.finishReason,
    usage: usage && {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      prompt_tokens_details: {
        cached_tokens: usage.cachedTokens,
        cache_write_tokens: usage.cacheWriteTokens ?? 0,
      },
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      cost_usd: costUsd,
    },
    cost_usd: costUsd,
    latency_ms: reply.latencyMs,
    ttft_ms: reply.ttftMs,
    provider: reply.provider,
    error: error && { message: error.message, type: errorTypeOf(error.code), code: error.code },
  }
}
