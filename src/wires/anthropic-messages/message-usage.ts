import { isRecord } from '../../kernel/is-record.ts'

/** Anthropic counts cache reads and cache writes separately from the other input tokens. */
export interface MessageUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
}

/** Converts the usage object of the chat format. Null if there is none. */
export function toMessageUsage(usage: unknown): MessageUsage | null {
  if (!isRecord(usage)) return null
  const details = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const thoughts = isRecord(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  const promptTokens = count(usage['prompt_tokens'])
  // In this wire the counts add up, so cache tokens beyond the prompt would increase the total.
  const readTokens = Math.min(count(details['cached_tokens']), promptTokens)
  const writtenTokens = Math.min(count(details['cache_write_tokens']), promptTokens - readTokens)
  const thinkingTokens = count(thoughts['reasoning_tokens'])
  return {
    input_tokens: promptTokens - readTokens - writtenTokens,
    cache_creation_input_tokens: writtenTokens,
    cache_read_input_tokens: readTokens,
    output_tokens: count(usage['completion_tokens']),
    ...(thinkingTokens > 0 ? { output_tokens_details: { thinking_tokens: thinkingTokens } } : {}),
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
