import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import type { ChatMessage, ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import type { InferenceRequest } from '../../inference/inference.ts'
import {
  findFileUses,
  inlineFiles,
  type FileUse,
  type FindOptions,
  type InlinedUse,
  type OwnFiles,
} from '../../media/media.ts'

/** Finds references to files by their address in messages. Looks only at parts with a URL, and reads nothing from storage. */
export function findFilesOfChat(
  media: Pick<OwnFiles, 'ownIdOf'>,
  { messages }: ChatRequest,
  options: FindOptions,
): InlinedUse[] {
  const uses: FileUse[] = []
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [place, part] of content.entries()) {
      const use = fileOf(part)
      // Data URIs are long and are not references.
      if (use !== null && /^https?:/i.test(use.url))
        uses.push({ ...use, param: `messages.${index}.content.${place}.${use.param}` })
    }
  }
  return uses.length === 0 ? [] : findFileUses(media, uses, options)
}

/** Returns the request with the files inlined, because an upstream may not be able to reach the gateway, or must not fetch addresses. */
export async function inlineFilesOfChat(
  media: Pick<OwnFiles, 'openOwn' | 'fetchForeign'>,
  request: InferenceRequest<ChatRequest>,
  uses: readonly InlinedUse[],
): Promise<InferenceRequest<ChatRequest>> {
  const files = await inlineFiles(media, {
    place: request.caller,
    uses,
    cancellation: request.cancellation,
    countRead: request.countRead,
  })
  const replace = (part: ContentPart): ContentPart => {
    const file = files.get(fileOf(part)?.url ?? '')
    if (file === undefined) return part
    const uri = `data:${file.contentType};base64,${file.base64}`
    switch (part.type) {
      case 'image_url':
        return { ...part, image_url: { ...part.image_url, url: uri } }
      case 'video_url':
        return { ...part, video_url: { ...part.video_url, url: uri } }
      case 'input_audio':
        return { ...part, input_audio: { ...part.input_audio, data: file.base64 } }
      case 'file':
        return { ...part, file: { ...part.file, file_data: uri } }
      case 'text':
      case 'refusal':
        return part
    }
  }
  const messages = request.body.messages.map((message): ChatMessage =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(replace) } : message,
  )
  const body = { ...request.body, messages }
  const edits = new Map([['messages', JSON.stringify(messages)]])
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

function fileOf(part: ContentPart): FileUse | null {
  switch (part.type) {
    case 'image_url':
      return { url: part.image_url.url, kind: 'image', param: 'image_url.url' }
    case 'video_url':
      return { url: part.video_url.url, kind: 'video', param: 'video_url.url' }
    case 'input_audio':
      return { url: part.input_audio.data, kind: 'audio', param: 'input_audio.data' }
    case 'file':
      return { url: part.file.file_data ?? '', kind: null, param: 'file.file_data' }
    case 'text':
    case 'refusal':
      return null
  }
}
