import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'

import type { ChatMessage, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { isRecord, readPath, readString } from '../exchange/read-json.ts'
import { translateAssistantMessage } from './translate-assistant-message.ts'
import { translateMediaPart, UntranslatablePart } from './translate-media-part.ts'
import { UntranslatableRequest } from './untranslatable-request.ts'
import type { Vendor } from '../vendor.ts'

type SystemMessage = Extract<LanguageModelV4Message, { role: 'system' }>

export function translatePrompt(
  messages: readonly ChatMessage[],
  vendor: Vendor,
  instruction?: string,
): LanguageModelV4Prompt {
  const system: SystemMessage[] = []
  const turns: LanguageModelV4Message[] = []
  const toolNames = collectToolNames(messages)
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...translateSystemMessage(message, vendor))
    } else if (message.role === 'assistant') {
      const content = translateAssistantMessage(message, index, vendor)
      if (content.length > 0) turns.push({ role: 'assistant', content })
    } else if (message.role === 'user') {
      const content = translateParts(message, index, vendor)
      if (content.length > 0) turns.push({ role: 'user', content })
    } else {
      appendToolResult(turns, translateToolMessage(message, index, vendor, toolNames))
    }
  }
  if (instruction !== undefined) system.push({ role: 'system', content: instruction })
  // Neither vendor accepts system messages in the middle of a conversation for all models, so they all come first.
  if (turns.length > 0) return [...system, ...turns]
  return [{ role: 'user', content: system.map((message) => ({ type: 'text', text: message.content })) }]
}

function translateSystemMessage(message: ChatMessage, vendor: Vendor): SystemMessage[] {
  if (typeof message.content === 'string') {
    return message.content === '' ? [] : [{ role: 'system', content: message.content }]
  }
  // One entry for each part, because a part may have its own cache mark.
  return (message.content ?? []).flatMap((part): SystemMessage[] =>
    part.type === 'text' && part.text !== ''
      ? [{ role: 'system', content: part.text, ...readCacheMark(part, vendor) }]
      : [],
  )
}

function translateParts(
  message: ChatMessage,
  messageIndex: number,
  vendor: Vendor,
): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> {
  if (typeof message.content === 'string') {
    return message.content === '' ? [] : [{ type: 'text', text: message.content }]
  }
  return (message.content ?? []).flatMap((part, partIndex) => {
    const translated = translatePart(part, `messages.${messageIndex}.content.${partIndex}`, vendor)
    return translated === undefined ? [] : [{ ...translated, ...readCacheMark(part, vendor) }]
  })
}

function translatePart(
  part: ContentPart,
  param: string,
  vendor: Vendor,
): LanguageModelV4TextPart | LanguageModelV4FilePart | undefined {
  // OpenAI's wire allows empty texts, but the vendors refuse them.
  if (part.type === 'text') return part.text === '' ? undefined : { type: 'text', text: part.text }
  if (part.type === 'refusal') return { type: 'text', text: part.refusal }
  try {
    return translateMediaPart(part, vendor)
  } catch (error) {
    if (error instanceof UntranslatablePart) throw new UntranslatableRequest(param, error.message)
    throw error
  }
}

function translateToolMessage(
  message: ChatMessage,
  messageIndex: number,
  vendor: Vendor,
  toolNames: ReadonlyMap<string, string>,
): LanguageModelV4ToolResultPart {
  const callId = message.tool_call_id ?? message.name ?? ''
  const parts = translateParts(message, messageIndex, vendor)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const files = parts.filter((part) => part.type === 'file')
  return {
    type: 'tool-result',
    toolCallId: vendor.normalizeCallId(callId),
    toolName: toolNames.get(callId) ?? message.name ?? callId,
    output:
      files.length === 0
        ? { type: 'text', value: text }
        : { type: 'content', value: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...files] },
  }
}

// Results of parallel calls arrive as separate messages but belong to one turn.
function appendToolResult(turns: LanguageModelV4Message[], result: LanguageModelV4ToolResultPart): void {
  const last = turns.at(-1)
  if (last?.role === 'tool') last.content.push(result)
  else turns.push({ role: 'tool', content: [result] })
}

// A tool result contains only the id of its call, but Google also requires the function's name.
function collectToolNames(messages: readonly ChatMessage[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const message of messages) {
    for (const call of message.tool_calls ?? [])
      if (call.type === 'function') names.set(call.id, call.function.name)
    const legacyName = readString(message, 'function_call', 'name')
    if (legacyName !== undefined) names.set(legacyName, legacyName)
  }
  return names
}

function readCacheMark(part: ContentPart, vendor: Vendor): { providerOptions?: SharedV4ProviderOptions } {
  const mark = readPath(part, 'cache_control')
  if (!isRecord(mark) || mark['type'] !== 'ephemeral') return {}
  if (vendor.key === 'bedrock') return { providerOptions: { bedrock: { cachePoint: { type: 'default' } } } }
  if (vendor.key !== 'anthropic') return {}
  const cacheControl = mark['ttl'] === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return { providerOptions: { anthropic: { cacheControl } } }
}
