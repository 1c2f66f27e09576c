import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { toChatMessages } from './to-chat-messages.ts'
import { readTools } from './tool-names.ts'

/**
 * A request whose items and tools can all be translated, for its size: what only OpenAI knows is the text of its JSON. Never sent
 * to anybody.
 */
export function toReadableRequest(request: ResponsesRequest): ResponsesRequest {
  const { input, tools } = request
  const readableTools = (tools ?? []).map(toReadableTool)
  const names = readTools(readableTools)
  return {
    ...request,
    tool_choice: null,
    tools: readableTools,
    input: Array.isArray(input)
      ? input.map((item) => (canRead(() => toChatMessages([item], names)) ? item : toText(item)))
      : input,
  }
}

function toReadableTool(tool: { type: string }): { type: string } {
  if (canRead(() => readTools([tool]))) return tool
  const described = { type: 'function', name: 'tool', description: stringifyJson(tool) }
  return described
}

function toText(item: object): object {
  return { type: 'message', role: 'user', content: isRecord(item) ? stringifyJson(item) : '' }
}

/** Other mistakes of the client stay for whoever translates it all. */
function canRead(translate: () => unknown): boolean {
  try {
    translate()
  } catch (error) {
    return !(error instanceof Untranslatable)
  }
  return true
}
