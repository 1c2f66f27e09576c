import type { ChatRequest, ContentPart } from '../../wires/openai-chat/chat-request.ts'

/** Yields the audio parts of a prompt, in any form, each with its place in the request. */
export function* soundParts({ messages }: ChatRequest): Generator<{ part: ContentPart; place: string }> {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content === 'string' || !content) continue
    for (const [position, part] of content.entries())
      if (isSound(part)) yield { part, place: `messages.${index}.content.${position}` }
  }
}

/** Vendors use the type of a data URI and the extension of a file name, so audio may be sent as an image or a document. */
export function isSound(part: ContentPart): boolean {
  switch (part.type) {
    case 'input_audio':
      return true
    case 'image_url':
      return isSoundAddress(part.image_url.url)
    case 'video_url':
      return isSoundAddress(part.video_url.url)
    case 'file': {
      const { file_data: data, filename } = part.file
      return isSoundAddress(data ?? '') || SOUND_NAME.test(filename ?? '')
    }
    case 'text':
    case 'refusal':
      return false
  }
}

/** Whether the member `modalities` asks for a spoken answer. */
export function isSpokenAnswerAsked(body: object): boolean {
  const modalities: unknown = Reflect.get(body, 'modalities')
  return Array.isArray(modalities) && modalities.includes('audio')
}

const SOUND_TYPE = /^data:audio\//i
const SOUND_NAME = /\.(?:mp3|mpga|wav|wave|ogg|oga|opus|flac|m4a|aac|aiff?|amr|wma|weba)$/i
/** No file name is longer. What precedes it does not matter. */
const NAME_LENGTH_MAX = 1024

function isSoundAddress(address: string): boolean {
  if (address.startsWith('data:') || address.startsWith('DATA:')) return SOUND_TYPE.test(address)
  if (!/^https?:/i.test(address)) return false
  const path = address.split(/[?#]/, 1)[0] ?? ''
  return SOUND_NAME.test(path.slice(-NAME_LENGTH_MAX))
}
