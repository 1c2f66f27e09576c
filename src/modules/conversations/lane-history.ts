import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import type { Reply, Turn } from './conversation.ts'

/** Returns the messages and replies of one lane, followed by the new messages. The replies of other lanes are not included. */
export function laneHistory(laneId: string, { system, history, messages }: Said): ChatMessage[] {
  const told: ChatMessage[] = system === null ? [] : [{ role: 'system', content: system }]
  for (const turn of history) {
    const reply = turn.replies.find((candidate) => candidate.laneId === laneId)
    // The turn was sent to other lanes only.
    if (reply === undefined) continue
    told.push(...turn.messages, ...toMessages(reply))
  }
  return [...told, ...messages]
}

interface Said {
  /** For lanes without a system message of their own. */
  readonly system: string | null
  readonly history: readonly Turn[]
  readonly messages: readonly ChatMessage[]
}

/** Includes the received part of a reply that was cut off. An empty reply adds no message. */
function toMessages({ output, toolCalls, status }: Reply): ChatMessage[] {
  // Tool calls of a failed reply may be incomplete, and then no result can be given for them.
  const calls = status === 'completed' ? toolCalls : null
  if (output === '' && calls === null) return []
  return [
    {
      role: 'assistant',
      content: output === '' ? null : output,
      ...(calls !== null && { tool_calls: readCalls(calls) }),
    },
  ]
}

type ToolCalls = NonNullable<ChatMessage['tool_calls']>

// The gateway assembled the calls from chunks, so their shape is known.
function readCalls(calls: readonly unknown[]): ToolCalls {
  return calls as ToolCalls
}
