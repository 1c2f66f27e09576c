import { isRecord } from '../../kernel/is-record.ts'
import type { ChatRequest, ChatTool } from '../../wires/openai-chat/chat-request.ts'

export interface ReadFunctions {
  /** With `tools` and `tool_choice` in the place of `functions` and `function_call`. */
  readonly body: ChatRequest
  /** Whether the answer calls by `function_call`, as clients of the older wire read it. */
  readonly isLegacy: boolean
}

const FUNCTIONS_MAX = 1024

/** The older way to offer functions, still sent by clients of years past. `tools` count where both are given. */
export function readLegacyFunctions(body: ChatRequest): ReadFunctions {
  const { functions, function_call: choice }: Record<string, unknown> = { ...body }
  if (!Array.isArray(functions) || (body.tools?.length ?? 0) > 0) return { body, isLegacy: false }
  const tools = functions.slice(0, FUNCTIONS_MAX).flatMap(toTool)
  const converted: ChatRequest = {
    ...body,
    tools,
    tool_choice: toToolChoice(choice),
    // The older wire has room for one call.
    parallel_tool_calls: false,
  }
  return { body: converted, isLegacy: true }
}

function toTool(given: unknown): ChatTool[] {
  if (!isRecord(given) || typeof given['name'] !== 'string') return []
  const { name, description, parameters } = given
  return [
    {
      type: 'function',
      function: {
        name,
        ...(typeof description === 'string' ? { description } : {}),
        ...(isRecord(parameters) ? { parameters } : {}),
      },
    },
  ]
}

function toToolChoice(choice: unknown): NonNullable<ChatRequest['tool_choice']> {
  if (isRecord(choice) && typeof choice['name'] === 'string')
    return { type: 'function', function: { name: choice['name'] } }
  return choice === 'none' ? 'none' : 'auto'
}
