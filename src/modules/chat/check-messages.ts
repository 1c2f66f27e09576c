import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { ChatMessage, ChatRequest, ContentPart } from '../../wires/openai-chat/chat-request.ts'
import { isMediaPart, requireMediaPart } from '../../wires/openai-chat/read-media-part.ts'
import { refuseAccountState, refuseCacheMark } from '../../wires/native-demands.ts'
import { refuseHiddenTools } from './refuse-hidden-tools.ts'

/** Checks what the schema cannot express: which roles may omit content, and what a tool result must name. */
export function checkMessages(messages: readonly ChatMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const isContentMissing = message.content === undefined || message.content === null
    if (isContentMissing && message.role !== 'assistant' && message.role !== 'function') {
      throw missing(`messages.${index}.content`, `A message of the role '${message.role}' needs content.`)
    }
    if (Array.isArray(message.content) && message.content.length === 0 && message.role !== 'assistant') {
      throw invalidValue(`messages.${index}.content`, `'messages.${index}.content' must have a part.`)
    }
    if (message.role === 'tool' && !message.tool_call_id) {
      throw missing(
        `messages.${index}.tool_call_id`,
        "A message of the role 'tool' needs the id of the call it answers.",
      )
    }
  }
}

/** Throws for invalid messages of the chat wire, and for parts that are priced separately or name files of the operator. */
export function checkChatRequest(body: ChatRequest): void {
  checkMessages(body.messages)
  refuseHiddenTools(body)
  for (const [index, { content }] of body.messages.entries())
    if (Array.isArray(content)) {
      checkParts(content, `messages.${index}.content`)
      checkMedia(content, `messages.${index}.content`)
    }
  const prediction: unknown = Reflect.get(body, 'prediction')
  if (isRecord(prediction) && Array.isArray(prediction['content']))
    checkParts(prediction['content'].filter(isRecord), 'prediction.content')
}

function checkMedia(parts: readonly ContentPart[], param: string): void {
  for (const [index, part] of parts.entries())
    if (isMediaPart(part)) requireMediaPart(part, (member) => `${param}.${index}.${member}`)
}

function checkParts(parts: readonly object[], param: string): void {
  for (const [index, part] of parts.entries()) {
    refuseCacheMark(part, `${param}.${index}`)
    const file: unknown = Reflect.get(part, 'file')
    if (isRecord(file) && typeof file['file_id'] === 'string')
      throw refuseAccountState(`${param}.${index}.file.file_id`, 'A file')
  }
}

function missing(param: string, message: string): AppError {
  return new AppError('missing_required_parameter', message, { param })
}
