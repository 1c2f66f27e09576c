import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { CountTokensRequest, MessagesTool } from './messages-request.ts'
import { toChatMessages, toSystemMessages } from './to-chat-messages.ts'
import { toChatTools } from './to-chat-tools.ts'

type Block = Readonly<Record<string, unknown>> & { readonly type: string }

/**
 * Replaces blocks and tools that cannot be translated with their JSON as text, to measure the size of a request. The result is
 * never sent.
 */
export function toReadableRequest<Request extends CountTokensRequest>(request: Request): Request {
  const { messages, system, tools } = request
  return {
    ...request,
    container: null,
    mcp_servers: null,
    messages: messages.map((message) => {
      const { role, content } = message
      if (!Array.isArray(content)) return message
      const isReadable = (block: Block) => canRead(() => toChatMessages([{ role, content: [block] }]))
      return { ...message, content: content.map((block) => toReadableBlock(block, isReadable)) }
    }),
    ...(Array.isArray(system)
      ? {
          system: system.map((block) =>
            toReadableBlock(block, (one) => canRead(() => toSystemMessages([one]))),
          ),
        }
      : {}),
    ...(tools ? { tools: tools.map(toReadableTool) } : {}),
  }
}

function toReadableBlock(block: Block, isReadable: (block: Block) => boolean): Block {
  const { content } = block
  const inner =
    block.type === 'tool_result' && Array.isArray(content)
      ? { ...block, content: content.map((one) => (isBlock(one) ? toReadableBlock(one, isResult) : one)) }
      : block
  return isReadable(inner) ? inner : { type: 'text', text: stringifyJson(block) }
}

function isResult(block: Block): boolean {
  return canRead(() => toChatMessages([{ role: 'user', content: [block] }]))
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value['type'] === 'string'
}

function toReadableTool(tool: MessagesTool): MessagesTool {
  if (canRead(() => toChatTools({ model: '', messages: [], tools: [tool] }))) return tool
  return { name: tool.name ?? 'tool', description: stringifyJson(tool), input_schema: {} }
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
