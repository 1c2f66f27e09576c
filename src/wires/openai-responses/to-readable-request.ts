import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { toChatMessages } from './to-chat-messages.ts'
import { readTools } from './tool-names.ts'

/**
 * Replaces items and tools that cannot be translated with their JSON as text, to measure the size of a request. The result is
 * never sent.
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

/** Returns false only if a translation does not exist. Other client errors are left to the actual translation. */
function canRead(translate: () => unknown): boolean {
  try {
    translate()
  } catch (error) {
    return !(error instanceof Untranslatable)
  }
  return true
}
