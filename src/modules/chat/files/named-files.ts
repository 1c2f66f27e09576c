import { invalidValue } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { MessagesRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import { kindOfType } from '../../../wires/media-types.ts'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { uuidOfFile } from '../../../wires/openai-files/file-id.ts'
import type { ResponsesRequest } from '../../../wires/openai-responses/responses-request.ts'
import type { FilledFile, FileNaming, NamedFile } from './fill-in-files.ts'
import { mapBlocks } from './inline-message-files.ts'
import { mapParts } from './inline-response-files.ts'

/** `{type: 'file', file: {file_id}}`. Ids of other forms are left for the check of the request to refuse. */
export const CHAT_NAMING: FileNaming<ChatRequest> = {
  find: ({ messages }) => {
    const named: NamedFile[] = []
    for (const [index, { content }] of messages.entries()) {
      if (!Array.isArray(content)) continue
      for (const [place, part] of content.entries()) {
        const fileId = idOfPart(part)
        if (fileId === null || part.type !== 'file') continue
        const param = `messages.${index}.content.${place}.file`
        requireAlone(part.file, 'file_data', param)
        named.push({ fileId, kind: null, param: `${param}.file_id` })
      }
    }
    return named
  },
  replace: ({ messages }, fileOf) => {
    const replace = (part: ContentPart): ContentPart => {
      const fileId = idOfPart(part)
      if (fileId === null || part.type !== 'file') return part
      const file = fileOf(fileId)
      if (file === null) return { type: 'text', text: '' }
      const { file_id: _, filename, ...rest } = part.file
      return {
        ...part,
        file: { ...rest, filename: filename ?? file.filename, file_data: dataUri(file) },
      }
    }
    return {
      messages: messages.map((message) =>
        Array.isArray(message.content) ? { ...message, content: message.content.map(replace) } : message,
      ),
    }
  },
}

function idOfPart(part: ContentPart): string | null {
  return part.type === 'file' ? readId(part.file.file_id) : null
}

/** `{type: 'input_file' | 'input_image', file_id}`, also in results of tools. */
export const RESPONSES_NAMING: FileNaming<ResponsesRequest> = {
  find: ({ input }) => {
    if (typeof input === 'string') return []
    const named: NamedFile[] = []
    mapParts(input, (part, param) => {
      const fileId = readId(part['file_id'])
      if (fileId === null || !isInputPart(part)) return part
      for (const member of ['file_data', 'file_url', 'image_url']) requireAlone(part, member, param)
      named.push({
        fileId,
        kind: part['type'] === 'input_image' ? 'image' : null,
        param: `${param}.file_id`,
      })
      return part
    })
    return named
  },
  replace: ({ input }, fileOf) => {
    if (typeof input === 'string') return {}
    const replaced = mapParts(input, (part) => {
      const fileId = readId(part['file_id'])
      if (fileId === null || !isInputPart(part)) return part
      const file = fileOf(fileId)
      if (file === null) return { type: 'input_text', text: '' }
      const { file_id: _, ...rest } = part
      if (part['type'] === 'input_image') return { ...rest, image_url: dataUri(file) }
      const { filename } = part
      return {
        ...rest,
        filename: typeof filename === 'string' ? filename : file.filename,
        file_data: dataUri(file),
      }
    })
    return { input: replaced }
  },
}

function isInputPart({ type }: Record<string, unknown>): boolean {
  return type === 'input_file' || type === 'input_image'
}

/** `{type: 'document' | 'image', source: {type: 'file', file_id}}`, also in results of tools. */
export const MESSAGES_NAMING: FileNaming<MessagesRequest> = {
  find: ({ messages }) => {
    const named: NamedFile[] = []
    // Most messages are text, and walking those costs nothing.
    if (!messages.some(({ content }) => Array.isArray(content))) return named
    mapBlocks(messages, 'messages', (block, param) => {
      const fileId = idOfBlock(block)
      if (fileId !== null)
        named.push({
          fileId,
          kind: block['type'] === 'image' ? 'image' : null,
          param: `${param}.source.file_id`,
        })
      return block
    })
    return named
  },
  replace: ({ messages }, fileOf) => ({
    messages: mapBlocks(messages, 'messages', (block, param) => {
      const fileId = idOfBlock(block)
      if (fileId === null) return block
      const file = fileOf(fileId)
      if (file === null) return { type: 'text', text: ' ', source: undefined }
      return { ...block, source: sourceOf(file, block, `${param}.source.file_id`) }
    }),
  }),
}

function idOfBlock({ type, source }: Record<string, unknown>): string | null {
  if (type !== 'image' && type !== 'document') return null
  return isRecord(source) && source['type'] === 'file' ? readId(source['file_id']) : null
}

function sourceOf(file: FilledFile, block: Record<string, unknown>, param: string): object {
  const { mediaType: type, content, base64: data } = file
  if (block['type'] === 'document' && kindOfType(type) === 'text')
    return { type: 'text', media_type: 'text/plain', data: content.toString('utf8') }
  if (block['type'] === 'document' && type !== PDF)
    throw invalidValue(param, `The file of '${param}' is ${type}. A document is a PDF or text.`)
  return { type: 'base64', media_type: type, data }
}

const PDF = 'application/pdf'

function readId(value: unknown): string | null {
  return typeof value === 'string' ? uuidOfFile(value) : null
}

/** Only one of them would be counted, and a vendor could read the other. */
function requireAlone(part: object, member: string, param: string): void {
  const other: unknown = Reflect.get(part, member)
  if (other === undefined || other === null) return
  throw invalidValue(`${param}.${member}`, `'${param}' must have either file_id or ${member}.`)
}

function dataUri({ mediaType, base64 }: FilledFile): string {
  return `data:${mediaType};base64,${base64}`
}
