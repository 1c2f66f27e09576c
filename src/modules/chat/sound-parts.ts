import type { ChatRequest, ContentPart } from '../../wires/openai-chat/chat-request.ts'

/** The parts of a prompt that are sound, in whichever way they were given, each with its place in the request. */
export function* soundParts({ messages }: ChatRequest): Generator<{ part: ContentPart; place: string }> {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content === 'string' || !content) continue
    for (const [position, part] of content.entries())
      if (isSound(part)) yield { part, place: `messages.${index}.content.${position}` }
  }
}

/** Vendors go by the type of a data URI and the name of a file, so that sound may come as a picture or a document. */
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

/** Whether the answer is to be spoken, which the member `modalities` asks for. */
export function isSpokenAnswerAsked(body: object): boolean {
  const modalities: unknown = Reflect.get(body, 'modalities')
  return Array.isArray(modalities) && modalities.includes('audio')
}

const SOUND_TYPE = /^data:audio\//i
const SOUND_NAME = /\.(?:mp3|mpga|wav|wave|ogg|oga|opus|flac|m4a|aac|aiff?|amr|wma|weba)$/i
/** No name of a file is longer; what comes before it does not matter. */
const NAME_LENGTH_MAX = 1024

function isSoundAddress(address: string): boolean {
  if (address.startsWith('data:') || address.startsWith('DATA:')) return SOUND_TYPE.test(address)
  if (!/^https?:/i.test(address)) return false
  const path = address.split(/[?#]/, 1)[0] ?? ''
  return SOUND_NAME.test(path.slice(-NAME_LENGTH_MAX))
}
