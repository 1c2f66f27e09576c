import { isRecord } from '../../../kernel/is-record.ts'
import type { DeliveredText } from './delivered-text.ts'

/** The same count as for an image in a prompt. */
const TOKENS_PER_PICTURE = 1_000
/** About the characters of MP3 speech per audio token, at twenty tokens per second. */
const BASE64_CHARACTERS_PER_AUDIO_TOKEN = 1_000
/** Nesting of content lists. No vendor nests deeper than two. */
const DEPTH_MAX = 4

/** Records everything that a choice of an answer, or of a chunk, delivers to the client. */
export function noteDelivered(choice: Record<string, unknown>, delivered: DeliveredText): void {
  const message = choice['delta'] ?? choice['message']
  if (!isRecord(message)) {
    noteContent(choice['text'], delivered, 0)
    return
  }
  noteContent(message['content'], delivered, 0)
  noteContent(message['reasoning_content'], delivered, 0)
  noteContent(message['refusal'], delivered, 0)
  if (message['tool_calls'] !== undefined) noteToolCalls(message['tool_calls'], delivered)
  if (message['function_call'] !== undefined) noteCall(message['function_call'], delivered)
  if (message['audio'] !== undefined) noteAudio(message['audio'], delivered)
  if (Array.isArray(message['images'])) delivered.addTokens(message['images'].length * TOKENS_PER_PICTURE)
}

/** Content is text, or a list of parts: text, reasoning, images and audio. */
function noteContent(content: unknown, delivered: DeliveredText, depth: number): void {
  if (typeof content === 'string') delivered.add(content)
  else if (Array.isArray(content) && depth < DEPTH_MAX)
    for (const part of content) notePart(part, delivered, depth + 1)
}

function notePart(part: unknown, delivered: DeliveredText, depth: number): void {
  if (typeof part === 'string') delivered.add(part)
  if (!isRecord(part)) return
  noteContent(part['text'], delivered, depth)
  noteContent(part['thinking'], delivered, depth)
  noteContent(part['refusal'], delivered, depth)
  if (part['image_url'] !== undefined || part['b64_json'] !== undefined)
    delivered.addTokens(TOKENS_PER_PICTURE)
  noteAudio(part['input_audio'] ?? part['audio'], delivered)
}

function noteToolCalls(toolCalls: unknown, delivered: DeliveredText): void {
  if (!Array.isArray(toolCalls)) return
  for (const toolCall of toolCalls)
    if (isRecord(toolCall)) noteCall(toolCall['function'] ?? toolCall['custom'], delivered)
}

function noteCall(called: unknown, delivered: DeliveredText): void {
  if (!isRecord(called)) return
  noteContent(called['name'], delivered, DEPTH_MAX)
  noteContent(called['arguments'] ?? called['input'], delivered, DEPTH_MAX)
}

/** The transcript is billed in addition to the audio. */
function noteAudio(audio: unknown, delivered: DeliveredText): void {
  if (!isRecord(audio)) return
  noteContent(audio['transcript'], delivered, DEPTH_MAX)
  const { data } = audio
  if (typeof data === 'string' && data !== '')
    delivered.addTokens(data.length / BASE64_CHARACTERS_PER_AUDIO_TOKEN)
}
