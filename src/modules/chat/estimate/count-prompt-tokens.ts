import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest, ContentPart } from '../../../wires/openai-chat/chat-request.ts'
import { isMediaPart } from '../../../wires/openai-chat/read-media-part.ts'
import type { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import { countInputs } from '../../../wires/text-input.ts'
import { TextTokens } from '../../../kernel/tokens/text-tokens.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import { estimateMediaTokens, partsOf } from './estimate-media-tokens.ts'
import { estimateProfileOf } from './estimate-profile.ts'
import { COMPLETION_INSTRUCTION_TOKENS } from './estimate-prompt-tokens.ts'
import { isAudio } from '../audio/audio-parts.ts'
import { countAudioTokens } from '../audio/audio-tokens.ts'

const TOKENS_PER_MESSAGE = 4
/** Vendors also bill what begins the answer. */
const TOKENS_OF_ANSWER = 3
/** Tokens of an image of usual size at the vendors that publish a formula. */
const TOKENS_PER_MEDIA_PART = 1000
/** Exact for thirty kilobytes of prose. Takes some tens of milliseconds for text that is not in the vocabulary. */
const WHOLE_TOKENS_MAX = 8_192

type CountTokens = (text: string) => number

/** Counts a prompt whose usage no vendor reported, although it may bill it. */
export function countHeldPromptTokens(
  model: CatalogModel,
  body: ChatRequest,
  countTokens: CountTokens,
): number {
  const { contextTokens } = estimateProfileOf(model)
  return Math.min(TOKENS_OF_ANSWER + countOwnPromptTokens(model, body, countTokens), contextTokens)
}

/** The same for an upstream of the operator. Images and files count as they were held: less could be below their work. */
export function countOwnPromptTokens(
  model: CatalogModel,
  body: ChatRequest,
  countTokens: CountTokens,
): number {
  const { family, contextTokens } = estimateProfileOf(model)
  const media = estimateMediaTokens(partsOf(body), family, contextTokens).tokens
  return Math.min(countText(body, countTokens) + media, contextTokens)
}

/** The same for a text completion, which most vendors only have as a chat with instructions. */
export function countHeldCompletionTokens(body: CompletionRequest, countTokens: CountTokens): number {
  const instructions = countInputs(body.prompt) * COMPLETION_INSTRUCTION_TOKENS
  return countCompletionPromptTokens(body, countTokens) + instructions
}

/** Counts a prompt for clients that only ask for the count. */
export function countChatPromptTokens(body: ChatRequest, countTokens: CountTokens): number {
  return countText(body, countTokens) + countRoughly(partsOf(body))
}

function countRoughly(parts: readonly ContentPart[]): number {
  let tokens = 0
  for (const part of parts)
    if (isMediaPart(part)) tokens += isAudio(part) ? countAudioTokens(part) : TOKENS_PER_MEDIA_PART
  return tokens
}

function countText(body: ChatRequest, countTokens: CountTokens): number {
  const text = createText(countTokens)
  let tokens = 0
  if (body.tools) text.add(stringifyJson(body.tools))
  if (body.response_format) text.add(stringifyJson(body.response_format))
  for (const message of body.messages) {
    tokens += TOKENS_PER_MESSAGE
    if (message.tool_calls) text.add(stringifyJson(message.tool_calls))
    if (typeof message.content === 'string') text.add(message.content)
    else
      for (const part of message.content ?? []) {
        if (part.type === 'text') text.add(part.text)
        if (part.type === 'refusal') text.add(part.refusal)
      }
  }
  return tokens + text.tokens
}

export function countCompletionPromptTokens(body: CompletionRequest, countTokens: CountTokens): number {
  const prompts = Array.isArray(body.prompt) ? body.prompt : [body.prompt]
  const text = createText(countTokens)
  let tokens = 0
  if (body.suffix) text.add(body.suffix)
  for (const prompt of prompts) {
    if (typeof prompt === 'string') text.add(prompt)
    else tokens += Array.isArray(prompt) ? prompt.length : 1
  }
  return tokens + text.tokens
}

function createText(count: CountTokens): TextTokens {
  return new TextTokens({ count, wholeTokensMax: WHOLE_TOKENS_MAX, sampleMargin: 1 })
}
