import { isRecord } from '../../../kernel/is-record.ts'
import type { ChatRequest, ChatTool } from '../../../wires/openai-chat/chat-request.ts'

export interface ReadFunctions {
  /** The request with `functions` and `function_call` replaced by `tools` and `tool_choice`. */
  readonly body: ChatRequest
  /** Whether the answer uses `function_call`, which clients of the older wire expect. */
  readonly isLegacy: boolean
}

const FUNCTIONS_MAX = 1024

/** Converts the older `functions`, which old clients still send. If both are given, `tools` takes precedence. */
export function readLegacyFunctions(body: ChatRequest): ReadFunctions {
  const { functions, function_call: choice }: Record<string, unknown> = { ...body }
  if (!Array.isArray(functions) || (body.tools?.length ?? 0) > 0) return { body, isLegacy: false }
  const tools = functions.slice(0, FUNCTIONS_MAX).flatMap(toTool)
  const converted: ChatRequest = {
    ...body,
    tools,
    tool_choice: toToolChoice(choice),
    // The older wire allows only one call.
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
