import { isRecord } from '../../kernel/is-record.ts'
import type { ChatRequest, ChatTool } from '../../wires/openai-chat/chat-request.ts'

export interface ToolSelection {
  /** Tools that the model may call, in the order of the request. */
  readonly tools: readonly ChatTool[]
  /** Null if the request has no `tool_choice`. */
  readonly choice: 'none' | 'auto' | 'required' | { readonly toolName: string } | null
  /** Name of a tool in `tool_choice` that the request does not define. */
  readonly unknownName: string | null
}

/** Reads `tools` and `tool_choice` together. A list of allowed tools becomes a shorter list of tools and a plain choice. */
export function selectTools({ tools: given, tool_choice: choice }: ChatRequest): ToolSelection {
  const tools = given ?? []
  if (choice === null || choice === undefined || typeof choice === 'string')
    return { tools, choice: choice ?? null, unknownName: null }
  const names = choice.type === 'allowed_tools' ? choice.allowed_tools.tools.map(nameOf) : [nameOf(choice)]
  const known = new Set(tools.map(nameOfTool))
  const unknownName = names.find((name) => !known.has(name)) ?? null
  if (choice.type !== 'allowed_tools') return { tools, choice: { toolName: names[0] ?? '' }, unknownName }
  const allowed = new Set(names)
  return {
    tools: tools.filter((tool) => allowed.has(nameOfTool(tool))),
    choice: choice.allowed_tools.mode,
    unknownName,
  }
}

export function nameOfTool(tool: ChatTool): string {
  return tool.type === 'function' ? tool.function.name : tool.custom.name
}

/** Reads the name from `{ type: 'function', function: { name } }`, and from other tool types that use the same form. */
function nameOf(reference: { readonly type: string }): string {
  const members: Record<string, unknown> = { ...reference }
  const described = members[reference.type]
  const name = isRecord(described) ? described['name'] : members['name']
  return typeof name === 'string' ? name : ''
}
