import type { ChatMessage, ContentPart } from './openai-chat/chat-request.ts'

/** A message with members that only some providers of the chat format accept. */
interface RichMessage extends ChatMessage {
  reasoning_details?: readonly object[]
}

/** Removes the members that an upstream of the chat format may refuse as unknown. */
export function toPlainMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message: RichMessage) => {
    const { reasoning_details: _, reasoning_content: __, content, ...rest } = message
    if (!Array.isArray(content)) return { ...rest, content: content ?? null }
    return { ...rest, content: simplifyParts(content.map(toPlainPart)) }
  })
}

/** Returns plain text if that is equivalent, because every upstream accepts it. */
export function simplifyParts(parts: readonly ContentPart[]): string | ContentPart[] {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text' && !('cache_control' in only)) return only.text
  return [...parts]
}

function toPlainPart(part: ContentPart & { cache_control?: unknown }): ContentPart {
  const { cache_control: _, ...rest } = part
  return rest
}
