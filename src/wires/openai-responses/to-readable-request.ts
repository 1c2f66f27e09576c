import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import { mayHoldMedia, UNSEEN_ADDRESS } from '../may-hold-media.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { toChatMessages } from './to-chat-messages.ts'
import { readTools } from './tool-names.ts'

/**
 * Replaces items and tools that cannot be translated with their JSON as text, to measure the size of a request. An item that may
 * hold more than text counts as a file of unknown size. The result is never sent.
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
      ? input.map((item) => (canRead(() => toChatMessages([item], names)) ? item : toReadableItem(item)))
      : input,
  }
}

function toReadableTool(tool: { type: string }): { type: string } {
  if (canRead(() => readTools([tool]))) return tool
  const described = { type: 'function', name: 'tool', description: stringifyJson(tool) }
  return described
}

function toReadableItem(item: object): object {
  const { type, output, ...rest } = { type: undefined, output: undefined, ...item }
  const screenshot = type === 'computer_call_output' && isRecord(output) ? output['image_url'] : null
  if (typeof screenshot === 'string' && !mayHoldMedia(rest))
    return toMessage(rest, [{ type: 'input_image', image_url: screenshot, detail: 'original' }])
  if (TEXT_ITEMS.has(String(type)) && !mayHoldMedia(item)) return toMessage(item, [])
  return toMessage(item, [{ type: 'input_file', file_url: UNSEEN_ADDRESS }])
}

function toMessage(item: object, parts: readonly object[]): object {
  const text = { type: 'input_text', text: stringifyJson(item) }
  return { type: 'message', role: 'user', content: [text, ...parts] }
}

/** Calls, results and summaries, which a model reads as the text that they are. */
const TEXT_ITEMS: ReadonlySet<string> = new Set([
  'reasoning',
  'compaction',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'computer_call',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
])

/** Returns false only if a translation does not exist. Other client errors are left to the actual translation. */
function canRead(translate: () => unknown): boolean {
  try {
    translate()
  } catch (error) {
    return !(error instanceof Untranslatable)
  }
  return true
}
