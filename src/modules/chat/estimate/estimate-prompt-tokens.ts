import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import { countInputs, countTokenIds } from '../../../wires/text-input.ts'
import { estimateMediaTokens, partsOf } from './estimate-media-tokens.ts'
import type { EstimateProfile } from './estimate-profile.ts'

/**
 * Returns an upper bound of the prompt tokens. No tokenizer in use makes more tokens than UTF-8 bytes, and JSON never writes text
 * in fewer bytes than it has. The bytes of a request therefore bound its text, and the JSON around each message is longer than
 * what a chat template puts around it.
 */
export function boundChatPromptTokens(
  profile: EstimateProfile,
  body: ChatRequest,
  requestBytes: number,
): number {
  let contentLength = 0
  let isStructured = hasStructure(body)
  for (const message of body.messages) {
    const { content } = message
    if (message.tool_calls) isStructured = true
    if (typeof content === 'string') contentLength += content.length
  }
  const media = estimateMediaTokens(partsOf(body), profile.family, profile.contextTokens)
  const textBytes = requestBytes - media.payloadLength
  contentLength += media.textLength
  let tokens = Math.max(textBytes, 1) + media.tokens + profile.family.hiddenTokens
  if (isStructured) tokens += Math.max(textBytes - contentLength, 0) + profile.family.toolTokens
  return tokens + hiddenReadingTokens(profile, body)
}

/** Returns an upper bound of the prompt tokens that may be billed as audio. */
export function boundAudioTokens(profile: EstimateProfile, body: ChatRequest): number {
  return estimateMediaTokens(partsOf(body), profile.family, profile.contextTokens).audioTokens
}

/** Counts token ids exactly and text by bytes. The suffix counts once for each prompt. */
export function boundCompletionPromptTokens(
  profile: EstimateProfile,
  body: CompletionRequest,
  requestBytes: number,
): number {
  const { prompt, suffix } = body
  const prompts = countInputs(prompt)
  const suffixBytes = (suffix?.length ?? 0) * UTF8_BYTES_PER_UNIT_MAX
  const idTokens = countTokenIds(prompt)
  const tokens =
    idTokens === null
      ? Math.max(requestBytes, 1) + (prompts - 1) * suffixBytes
      : Math.ceil(idTokens * profile.family.tokensPerEncodedToken) + prompts * suffixBytes
  return tokens + completionOverheadTokens(profile, prompts)
}

/** Each prompt is a separate call, with a line of instructions if the upstream only has chat. */
export function completionOverheadTokens(profile: EstimateProfile, prompts: number): number {
  return prompts * (profile.family.hiddenTokens + COMPLETION_INSTRUCTION_TOKENS)
}

/** Whether a part of the request is rendered differently for the model, up to two tokens per byte: `1,2` becomes `1 | 2`. */
export function hasStructure(body: ChatRequest): boolean {
  return (
    (body.tools !== undefined && body.tools !== null && body.tools.length > 0) ||
    (body.response_format !== undefined &&
      body.response_format !== null &&
      body.response_format.type !== 'text') ||
    'functions' in body
  )
}

/** Text that an upstream may fetch before it answers is billed as prompt, and its size is unknown. */
export function hiddenReadingTokens(profile: EstimateProfile, body: ChatRequest): number {
  for (const member of SEARCH_MEMBERS) if (member in body) return profile.contextTokens
  return 0
}

const SEARCH_MEMBERS = ['web_search_options', 'search_parameters', 'plugins', 'enable_search']
/** The instructions to continue a text, and the messages around them. */
export const COMPLETION_INSTRUCTION_TOKENS = 64
/** A character outside the basic plane has two UTF-16 units and four bytes. */
const UTF8_BYTES_PER_UNIT_MAX = 3
