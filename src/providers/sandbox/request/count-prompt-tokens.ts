import { setImmediate as nextTurn } from 'node:timers/promises'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { splitParts } from '../answer/split-tokens.ts'

/** Media have fixed token counts regardless of their content, so that a bill can be checked by hand. */
const MEDIA_TOKENS = { image_url: 765, input_audio: 500, file: 1000, video_url: 2000 } as const

const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_REPLY = 3
const EXACT_CHARACTERS_MAX = 131_072
const CHARACTERS_PER_TURN = 2048

/**
 * Counts the first 131,072 characters exactly and extrapolates the rest, so that the time is bounded for any prompt. Yields to
 * other requests in between.
 */
export async function countPromptTokens(body: ChatRequest, signal: AbortSignal): Promise<number> {
  const counter = createTokenCounter(signal)
  let overheadTokens = TOKENS_PER_REPLY
  for (const item of listPromptItems(body)) {
    if (typeof item === 'number') overheadTokens += item
    else await counter.add(item)
  }
  return overheadTokens + counter.total()
}

export interface TokenCounter {
  add(text: string): Promise<void>
  total(): number
}

/** Counts texts one after the other, and yields to other requests in between. */
export function createTokenCounter(signal: AbortSignal): TokenCounter {
  let textTokens = 0
  let countedCharacters = 0
  let allCharacters = 0
  let turnCharacters = 0
  return {
    async add(text) {
      allCharacters += text.length
      const counted = text.slice(0, Math.max(0, EXACT_CHARACTERS_MAX - countedCharacters))
      countedCharacters += counted.length
      for (const segment of splitParts(counted, CHARACTERS_PER_TURN)) {
        textTokens += countTokens(segment)
        turnCharacters += segment.length
        if (turnCharacters < CHARACTERS_PER_TURN) continue
        turnCharacters = 0
        await nextTurn()
        signal.throwIfAborted()
      }
    },
    total: () => (countedCharacters === 0 ? 0 : Math.round((textTokens / countedCharacters) * allCharacters)),
  }
}

/** Yields texts to count, and counts that are already known. */
function* listPromptItems(body: ChatRequest): Generator<string | number> {
  if (body.tools && body.tools.length > 0) yield stringifyJson(body.tools)
  if (body.response_format?.type === 'json_schema') yield stringifyJson(body.response_format.json_schema)
  for (const message of body.messages) {
    yield TOKENS_PER_MESSAGE
    if (message.name) yield message.name
    if (message.tool_calls) yield stringifyJson(message.tool_calls)
    if (typeof message.content === 'string') yield message.content
    else for (const part of message.content ?? []) yield readPart(part)
  }
}

function readPart(part: ContentPart): string | number {
  if (part.type === 'text') return part.text
  return part.type === 'refusal' ? part.refusal : MEDIA_TOKENS[part.type]
}
