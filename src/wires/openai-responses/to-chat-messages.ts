import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { ChatMessage, ContentPart } from '../openai-chat/chat-request.ts'
import { requireMediaPart, type MediaPart } from '../openai-chat/read-media-part.ts'
import { Untranslatable } from '../untranslatable.ts'
import { unsealThoughts } from './sealed-thoughts.ts'
import { TEXT_ARGUMENT, type ToolNames } from './tool-names.ts'

type Members = Readonly<Record<string, unknown>>

/** An assistant message with the reasoning members that some providers of the chat format accept. */
interface AssistantTurn extends ChatMessage {
  reasoning_details?: readonly object[]
}

/** Combines the text, calls and reasoning between two messages of other roles into one assistant message. */
export function toChatMessages(input: string | readonly unknown[], tools: ToolNames): ChatMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const messages: ChatMessage[] = []
  let turn: AssistantTurn | null = null
  const speak = (): AssistantTurn => {
    if (turn === null) {
      turn = { role: 'assistant', content: null }
      messages.push(turn)
    }
    return turn
  }
  for (const [index, item] of input.entries()) {
    const param = `input.${index}`
    if (!isRecord(item)) throw invalidValue(param, `${param} must be an object.`)
    const kind = item['type'] ?? 'message'
    if (kind === 'message' && item['role'] === 'assistant') {
      const own = speak()
      const text = toText(item['content'], `${param}.content`)
      own.content = typeof own.content === 'string' ? own.content + text : text
    } else if (kind === 'function_call' || kind === 'custom_tool_call') {
      const own = speak()
      own.tool_calls = [...(own.tool_calls ?? []), toCall(item, param, tools)]
    } else if (kind === 'reasoning') {
      const thoughts = unsealThoughts(item['encrypted_content'])
      if (thoughts !== null) {
        const own = speak()
        own.reasoning_content = (own.reasoning_content ?? '') + thoughts.text
        if (thoughts.details.length > 0)
          own.reasoning_details = [...(own.reasoning_details ?? []), ...thoughts.details]
      }
    } else {
      turn = null
      messages.push(kind === 'message' ? toMessage(item, param) : toResult(item, param))
    }
  }
  return messages
}

function toMessage(item: Members, param: string): ChatMessage {
  const { role, content } = item
  if (role !== 'user' && role !== 'system' && role !== 'developer')
    throw invalidValue(`${param}.role`, `${param}.role must be user, assistant, system or developer.`)
  if (typeof content === 'string') return { role, content }
  const parts = readParts(content, `${param}.content`)
  return { role, content: parts.map((part, index) => toPart(part, `${param}.content.${index}`)) }
}

function toResult(item: Members, param: string): ChatMessage {
  const { type, output } = item
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output') {
    const message = `An item of the type ${JSON.stringify(type)} cannot be given to this model.`
    throw new Untranslatable(message, `${param}.type`)
  }
  const content =
    typeof output === 'string'
      ? output
      : readParts(output, `${param}.output`).map((part, index) => toPart(part, `${param}.output.${index}`))
  return { role: 'tool', tool_call_id: requireText(item['call_id'], `${param}.call_id`), content }
}

function toCall(
  item: Members,
  param: string,
  tools: ToolNames,
): NonNullable<ChatMessage['tool_calls']>[number] {
  const name = requireText(item['name'], `${param}.name`)
  const namespace = typeof item['namespace'] === 'string' ? item['namespace'] : null
  const isText = item['type'] === 'custom_tool_call'
  const given = item[isText ? 'input' : 'arguments']
  const text = typeof given === 'string' ? given : ''
  return {
    id: requireText(item['call_id'], `${param}.call_id`),
    type: 'function',
    function: {
      name: tools.nameOf({ name, namespace }),
      arguments: isText ? JSON.stringify({ [TEXT_ARGUMENT]: text }) : text,
    },
  }
}

function toText(content: unknown, param: string): string {
  if (typeof content === 'string') return content
  return readParts(content, param)
    .map((part, index) => requireText(part['text'] ?? part['refusal'], `${param}.${index}.text`, true))
    .join('')
}

function toPart(part: Members, param: string): ContentPart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requireText(part['text'], `${param}.text`, true) }
    case 'refusal':
      return { type: 'refusal', refusal: requireText(part['refusal'], `${param}.refusal`, true) }
    case 'input_image':
      return toImage(part, param)
    case 'input_file':
      return toFile(part, param)
    case 'input_audio':
      return toAudio(part, param)
    default:
      throw new Untranslatable(
        `A part of the type ${JSON.stringify(part['type'])} cannot be given to this model.`,
        `${param}.type`,
      )
  }
}

const DETAILS = ['auto', 'low', 'high', 'original'] as const

function toImage(part: Members, param: string): ContentPart {
  if (typeof part['image_url'] !== 'string') throw ofOpenAi(`${param}.file_id`)
  const detail = DETAILS.find((known) => known === part['detail'])
  const image = { url: part['image_url'], ...(detail === undefined ? {} : { detail }) }
  return checked({ type: 'image_url', image_url: image }, `${param}.image_url`)
}

function toFile(part: Members, param: string): ContentPart {
  const data = part['file_data'] ?? part['file_url']
  if (typeof data !== 'string') throw ofOpenAi(`${param}.file_id`)
  const isInline = data === part['file_data']
  // Only one of them is counted, and the vendor could read the other.
  if (isInline && typeof part['file_url'] === 'string')
    throw invalidValue(`${param}.file_url`, `${param} must have either file_data or file_url.`)
  const { filename } = part
  const file = { file_data: data, ...(typeof filename === 'string' ? { filename } : {}) }
  return checked({ type: 'file', file }, `${param}.${isInline ? 'file_data' : 'file_url'}`)
}

/** OpenAI reads a part as what it says, so a part that holds something else is refused. */
function checked(part: MediaPart, place: string): ContentPart {
  requireMediaPart(part, () => place)
  return part
}

function toAudio(part: Members, param: string): ContentPart {
  const sound = isRecord(part['input_audio']) ? part['input_audio'] : part
  return {
    type: 'input_audio',
    input_audio: {
      data: requireText(sound['data'], `${param}.input_audio.data`),
      format: requireText(sound['format'], `${param}.input_audio.format`),
    },
  }
}

function ofOpenAi(param: string): AppError {
  return new AppError('unsupported_parameter', 'Files of OpenAI cannot be used here. Send the content.', {
    param,
  })
}

function readParts(value: unknown, param: string): readonly Members[] {
  if (Array.isArray(value) && value.every(isRecord)) return value
  throw invalidValue(param, `${param} must be a string or a list of parts.`)
}

function requireText(value: unknown, param: string, mayBeEmpty = false): string {
  if (typeof value === 'string' && (mayBeEmpty || value !== '')) return value
  throw new AppError('missing_required_parameter', `${param} is required.`, { param })
}
