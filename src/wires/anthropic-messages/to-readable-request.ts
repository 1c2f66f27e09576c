import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import { mayHoldMedia, UNSEEN_ADDRESS } from '../may-hold-media.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { CountTokensRequest, MessagesTool } from './messages-request.ts'
import { toChatMessages, toSystemMessages } from './to-chat-messages.ts'
import { toChatTools } from './to-chat-tools.ts'

type Block = Readonly<Record<string, unknown>> & { readonly type: string }

/**
 * Replaces blocks and tools that cannot be translated with their JSON as text, to measure the size of a request. If a block may
 * hold more than text, a document of unknown size is added. The result is never sent.
 */
export function toReadableRequest<Request extends CountTokensRequest>(request: Request): Request {
  const { messages, system, tools } = request
  const unread: Block[] = []
  const readable = messages.map((message) => {
    const { role, content } = message
    if (!Array.isArray(content)) return message
    const isReadable = (block: Block) => canRead(() => toChatMessages([{ role, content: [block] }]))
    return { ...message, content: content.map((block) => toReadableBlock(block, { isReadable, unread })) }
  })
  const isInstruction = (block: Block) => canRead(() => toSystemMessages([block]))
  const instructions = Array.isArray(system)
    ? system.map((block) => toReadableBlock(block, { isReadable: isInstruction, unread }))
    : []
  const isAllText = unread.every((block) => TEXT_BLOCK.test(block.type) && !mayHoldMedia(block))
  return {
    ...request,
    container: null,
    mcp_servers: null,
    messages: isAllText ? readable : [...readable, UNSEEN_MESSAGE],
    ...(Array.isArray(system) ? { system: instructions } : {}),
    ...(tools ? { tools: tools.map(toReadableTool) } : {}),
  }
}

/** Results and calls of tools on a server, and summaries, which a model reads as the text that they are. */
const TEXT_BLOCK = /^(?:server_tool_use|mcp_tool_use|compaction|[a-z_]+_tool_result)$/

const UNSEEN_MESSAGE: CountTokensRequest['messages'][number] = {
  role: 'user',
  content: [unseenDocument()],
}

function unseenDocument(): Block {
  return { type: 'document', source: { type: 'url', url: UNSEEN_ADDRESS } }
}

interface BlockReader {
  readonly isReadable: (block: Block) => boolean
  /** Receives the blocks that were replaced. */
  readonly unread: Block[]
}

function toReadableBlock(block: Block, { isReadable, unread }: BlockReader): Block {
  const { content } = block
  const reader = { isReadable: isResult, unread }
  const inner =
    block.type === 'tool_result' && Array.isArray(content)
      ? { ...block, content: content.map((one) => (isBlock(one) ? toReadableBlock(one, reader) : one)) }
      : block
  if (isReadable(inner)) return inner
  unread.push(block)
  return { type: 'text', text: stringifyJson(block) }
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
