import { isRecord } from '../../kernel/is-record.ts'
import type { DeliveredText } from './delivered-text.ts'

/** As much as a picture in a prompt counts. */
const TOKENS_PER_PICTURE = 1_000
/** MP3 of speech has about so many for each of the twenty tokens that a second of it costs. */
const BASE64_CHARACTERS_PER_AUDIO_TOKEN = 1_000
/** Of lists within lists, which no vendor nests deeper than two. */
const DEPTH_MAX = 4

/** Notes everything that one choice of an answer, or a chunk of one, gives to the client. */
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

/** Text, or a list of parts: text, thoughts, pictures and sound. */
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

/** Its transcript is billed beside the sound. */
function noteAudio(audio: unknown, delivered: DeliveredText): void {
  if (!isRecord(audio)) return
  noteContent(audio['transcript'], delivered, DEPTH_MAX)
  const { data } = audio
  if (typeof data === 'string' && data !== '')
    delivered.addTokens(data.length / BASE64_CHARACTERS_PER_AUDIO_TOKEN)
}
