import { guessMediaType, kindOfType } from '../../../wires/media-types.ts'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { isMediaPart, requireMediaPart } from '../../../wires/openai-chat/read-media-part.ts'

/** Yields the audio parts of a prompt, in any form, each with its place in the request. */
export function* audioParts({ messages }: ChatRequest): Generator<{ part: ContentPart; place: string }> {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content === 'string' || !content) continue
    for (const [position, part] of content.entries())
      if (isAudio(part)) yield { part, place: `messages.${index}.content.${position}` }
  }
}

/** Audio may be sent as a file or a video too: vendors use its bytes, its type and the extension of its name. */
export function isAudio(part: ContentPart): boolean {
  if (!isMediaPart(part)) return false
  const { kind, mediaType } = requireMediaPart(part, (member) => member)
  return (
    kind === 'audio' ||
    kindOfType(mediaType) === 'audio' ||
    (part.type === 'file' && kindOfType(guessMediaType(part.file.filename ?? '') ?? '') === 'audio')
  )
}

/** Whether the member `modalities` asks for a spoken answer. */
export function isSpokenAnswerAsked(body: object): boolean {
  const modalities: unknown = Reflect.get(body, 'modalities')
  return Array.isArray(modalities) && modalities.includes('audio')
}
