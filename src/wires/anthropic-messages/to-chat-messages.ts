import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { ChatMessage, ContentPart } from '../openai-chat/chat-request.ts'
import { simplifyParts } from '../plain-messages.ts'
import { isVendorSignature } from '../sandbox-signature.ts'
import { withoutBillingLine } from './billing-line.ts'
import type { MessagesMessage } from './messages-request.ts'
import { nativeOnly } from './native-only.ts'
import { readBlocks, readMembers, readText, type Members } from './read-block.ts'
import { toChatParts } from './to-chat-parts.ts'

/** An assistant message with the reasoning members that some providers of the chat format accept. */
interface ThoughtfulMessage extends ChatMessage {
  reasoning_details?: readonly object[]
}

/** Converts the instructions to one message. */
export function toSystemMessages(system: unknown): ChatMessage[] {
  const kept = withoutBillingLine(system)
  const blocks = kept === '' && system !== '' ? [] : readBlocks(kept, 'system')
  const parts = blocks.flatMap((block, index) => toChatParts(block, `system.${index}`))
  return parts.length === 0 ? [] : [{ role: 'system', content: simplifyParts(parts) }]
}

export function toChatMessages(messages: readonly MessagesMessage[]): ChatMessage[] {
  return messages.flatMap(({ role, content }, index) => {
    const param = `messages.${index}.content`
    const blocks = readBlocks(content, param)
    if (role === 'assistant') return [toAssistantMessage(blocks, param)]
    return toUserMessages(role, blocks, param)
  })
}

/** Tool results become separate messages, which must follow the calls. The other content comes after them. */
function toUserMessages(role: 'user' | 'system', blocks: readonly Members[], param: string): ChatMessage[] {
  const results: ChatMessage[] = []
  const parts: ContentPart[] = []
  for (const [index, block] of blocks.entries()) {
    const place = `${param}.${index}`
    if (block['type'] === 'tool_result') results.push(toToolMessage(block, place))
    else parts.push(...toChatParts(block, place))
  }
  if (parts.length === 0 && results.length > 0) return results
  return [...results, { role, content: simplifyParts(parts) }]
}

const ERROR_START = 'Error: '

/** The chat format cannot mark a failed tool, so the text begins with `Error: `. */
function toToolMessage(block: Members, param: string): ChatMessage {
  const inner = readBlocks(block['content'], `${param}.content`)
  const parts = inner.flatMap((one, index) => toChatParts(one, `${param}.content.${index}`))
  const told: ContentPart[] =
    block['is_error'] === true ? [{ type: 'text', text: ERROR_START }, ...parts] : parts
  return {
    role: 'tool',
    tool_call_id: readText(block, 'tool_use_id', param),
    content: told.every((part) => part.type === 'text')
      ? told.map((part) => part.text).join(block['is_error'] === true ? '' : '\n')
      : told,
  }
}

function toAssistantMessage(blocks: readonly Members[], param: string): ChatMessage {
  const texts: string[] = []
  const calls: NonNullable<ChatMessage['tool_calls']> = []
  const thoughts: string[] = []
  const details: object[] = []
  for (const [index, block] of blocks.entries()) {
    const place = `${param}.${index}`
    switch (block['type']) {
      case 'text':
        texts.push(readText(block, 'text', place))
        break
      case 'tool_use':
        calls.push({
          id: readText(block, 'id', place),
          type: 'function',
          function: {
            name: readText(block, 'name', place),
            arguments: stringifyJson(readMembers(block, 'input', place)),
          },
        })
        break
      case 'thinking':
        thoughts.push(readText(block, 'thinking', place))
        details.push(...signedThought(block))
        break
      case 'redacted_thinking':
        details.push({ type: 'reasoning.encrypted', data: readText(block, 'data', place), format: FORMAT })
        break
      default:
        throw nativeOnly(place, `A content block of the type ${JSON.stringify(block['type'])}`)
    }
  }
  const message: ThoughtfulMessage = {
    role: 'assistant',
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(''),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n') }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
  return message
}

const FORMAT = 'anthropic-claude-v1'

/** Thinking blocks of other vendors have no signature, and providers that verify signatures do not accept them. */
function signedThought(block: Members): object[] {
  const { thinking, signature } = block
  if (!isVendorSignature(signature)) return []
  return [{ type: 'reasoning.text', text: thinking, signature, format: FORMAT }]
}
