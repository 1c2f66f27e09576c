import type { ApiError } from '../../../api/api-error.ts'
import type { ChatUsage, ToolCallDelta } from '../../../api/stream-chat.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly argumentsText: string
  /** What the person says that the tool returned. */
  readonly result?: string | undefined
}

export interface UserMessage {
  readonly role: 'user'
  readonly id: string
  readonly text: string
  /** Data URIs. */
  readonly images: readonly string[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly id: string
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly isStreaming: boolean
  readonly startedAtMs: number
  readonly firstTokenMs?: number | undefined
  readonly totalMs?: number | undefined
  readonly finishReason?: string | undefined
  readonly usage?: ChatUsage | undefined
  readonly provider?: string | null | undefined
  readonly requestId?: string | null | undefined
  readonly error?: ApiError | undefined
}

export type ChatMessage = UserMessage | AssistantMessage

/** Joins a piece of a tool call to those before it. */
export function joinToolCall(calls: readonly ToolCall[], delta: ToolCallDelta): ToolCall[] {
  const joined = [...calls]
  const known = joined[delta.index]
  joined[delta.index] = {
    id: known?.id ?? delta.id ?? `call_${delta.index}`,
    name: (known?.name ?? '') + (delta.function?.name ?? ''),
    argumentsText: (known?.argumentsText ?? '') + (delta.function?.arguments ?? ''),
  }
  return joined
}

/** Whether all tools that the last answer asked for have returned something. */
export function needsToolResults(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.toolCalls.some(({ result }) => result === undefined)
}
