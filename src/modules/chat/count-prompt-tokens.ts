import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { CompletionRequest } from '../../providers/completion-wire.ts'

const TOKENS_PER_MESSAGE = 4
/** What a picture of usual size costs at the vendors that publish a formula. */
const TOKENS_PER_MEDIA_PART = 1000

/** For upstreams that report no usage. */
export function countChatPromptTokens(body: ChatRequest, countTokens: (text: string) => number): number {
  let tokens = body.tools ? countTokens(JSON.stringify(body.tools)) : 0
  for (const message of body.messages) {
    tokens += TOKENS_PER_MESSAGE
    if (message.tool_calls) tokens += countTokens(JSON.stringify(message.tool_calls))
    if (typeof message.content === 'string') tokens += countTokens(message.content)
    else
      for (const part of message.content ?? [])
        tokens += part.type === 'text' ? countTokens(part.text) : TOKENS_PER_MEDIA_PART
  }
  return tokens
}

export function countCompletionPromptTokens(
  body: CompletionRequest,
  countTokens: (text: string) => number,
): number {
  const prompts = Array.isArray(body.prompt) ? body.prompt : [body.prompt]
  let tokens = body.suffix ? countTokens(body.suffix) : 0
  for (const prompt of prompts) {
    tokens += typeof prompt === 'string' ? countTokens(prompt) : Array.isArray(prompt) ? prompt.length : 1
  }
  return tokens
}
