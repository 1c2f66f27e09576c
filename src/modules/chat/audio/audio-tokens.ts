import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { decodedBytes, readWaveBytesPerSecond } from '../estimate/estimate-media-tokens.ts'
import { isSpokenAnswerAsked, audioParts } from './audio-parts.ts'

/** How much of a request and its answer is audio, for upstreams that do not report it. */
export interface RequestAudio {
  readonly promptTokens: number
  readonly isAnswerSpoken: boolean
}

export const NO_AUDIO: RequestAudio = { promptTokens: 0, isAnswerSpoken: false }

export function audioOfChat(body: ChatRequest): RequestAudio {
  let promptTokens = 0
  for (const { part } of audioParts(body)) promptTokens += countAudioTokens(part)
  return { promptTokens, isAnswerSpoken: isSpokenAnswerAsked(body) }
}

/** Google's rate, the highest of all vendors. */
const TOKENS_PER_SECOND = 32
/** 64 kbit/s, a common rate for recorded speech. */
const BYTES_PER_SECOND = 8_000
/** The same count as for an image. */
const PART_TOKENS_MIN = 1_000

/** Counts one audio part if no upstream reports it. A part that only the vendor can fetch counts the minimum. */
export function countAudioTokens(part: ContentPart): number {
  const data = dataOf(part)
  const seconds = decodedBytes(data) / (readWaveBytesPerSecond(data) ?? BYTES_PER_SECOND)
  return Math.max(Math.ceil(seconds * TOKENS_PER_SECOND), PART_TOKENS_MIN)
}

function dataOf(part: ContentPart): string {
  switch (part.type) {
    case 'input_audio':
      return part.input_audio.data
    case 'image_url':
      return part.image_url.url
    case 'video_url':
      return part.video_url.url
    case 'file':
      return part.file.file_data ?? ''
    case 'text':
    case 'refusal':
      return ''
  }
}
