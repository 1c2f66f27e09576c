import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import type { Reply, Turn } from './conversation.ts'

/** What one lane was told and replied, with what it is told now: nothing of what other lanes said. */
export function laneHistory(laneId: string, { system, history, messages }: Said): ChatMessage[] {
  const told: ChatMessage[] = system === null ? [] : [{ role: 'system', content: system }]
  for (const turn of history) {
    const reply = turn.replies.find((candidate) => candidate.laneId === laneId)
    // A turn that went to others only.
    if (reply === undefined) continue
    told.push(...turn.messages, ...toMessages(reply))
  }
  return [...told, ...messages]
}

interface Said {
  /** For lanes that have none of their own. */
  readonly system: string | null
  readonly history: readonly Turn[]
  readonly messages: readonly ChatMessage[]
}

/** What came of a reply that broke off was said too; where nothing came, nothing was said. */
function toMessages({ output, toolCalls, status }: Reply): ChatMessage[] {
  // Calls that broke off are not whole, and nobody could answer them.
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

// They were put together from chunks by the gateway itself.
function readCalls(calls: readonly unknown[]): ToolCalls {
  return calls as ToolCalls
}
