import type { NanoUsd } from '../../kernel/money.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'

/** Several lanes that get the same messages. Each lane has its own history. */
export interface Conversation {
  readonly id: string
  /** Null is the project `Default`. */
  readonly projectId: string | null
  readonly name: string | null
  /** For lanes without a system message of their own. */
  readonly system: string | null
  readonly lanes: readonly ConversationLane[]
  readonly turnsTotal: number
  readonly costNanoUsd: NanoUsd
  /** Whether a turn is being answered. */
  readonly isBusy: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface ConversationLane {
  readonly id: string
  readonly position: number
  /** The id that the client sent. */
  readonly model: string
  readonly name: string
  /** Members of the chat request in each turn; `system` becomes a message of that role. */
  readonly params: Readonly<Record<string, unknown>>
}

/** The messages sent to all lanes, and the reply of each lane. */
export interface Turn {
  readonly id: string
  readonly conversationId: string
  readonly index: number
  readonly messages: readonly ChatMessage[]
  readonly replies: readonly Reply[]
  readonly createdAt: Date
  readonly completedAt: Date | null
}

export interface Reply {
  readonly laneId: string
  readonly requestId: string
  readonly status: 'running' | 'completed' | 'failed'
  /** For a failed reply, the part that arrived before the failure. */
  readonly output: string
  readonly reasoning: string | null
  readonly toolCalls: readonly unknown[] | null
  readonly finishReason: string | null
  readonly usage: ReplyUsage | null
  readonly costNanoUsd: NanoUsd
  readonly latencyMs: number | null
  readonly ttftMs: number | null
  /** The catalog id of the model that answered. */
  readonly model: string | null
  readonly provider: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

export interface ReplyUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}
