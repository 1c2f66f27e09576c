import { isRecord } from '../../kernel/is-record.ts'

/** Anthropic counts what was read from a cache or written to one beside the rest of the input. */
export interface MessageUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
}

/** Of the usage object of the chat form; null where there is none. */
export function toMessageUsage(usage: unknown): MessageUsage | null {
  if (!isRecord(usage)) return null
  const details = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const thoughts = isRecord(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  const readTokens = count(details['cached_tokens'])
  const writtenTokens = count(details['cache_write_tokens'])
  const thinkingTokens = count(thoughts['reasoning_tokens'])
  return {
    input_tokens: Math.max(0, count(usage['prompt_tokens']) - readTokens - writtenTokens),
    cache_creation_input_tokens: writtenTokens,
    cache_read_input_tokens: readTokens,
    output_tokens: count(usage['completion_tokens']),
    ...(thinkingTokens > 0 ? { output_tokens_details: { thinking_tokens: thinkingTokens } } : {}),
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
