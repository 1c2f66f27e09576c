import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'

/** What an answer used. Cached tokens are part of the prompt's, reasoning tokens of the completion's. */
export interface TokenUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** Reads an upstream's usage object, or null when it has none that can be trusted. */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isRecord(value)) return null
  const promptTokens = readCount(value['prompt_tokens'])
  const completionTokens = readCount(value['completion_tokens'])
  if (promptTokens === null || completionTokens === null) return null
  const cachedTokens =
    readDetail(value['prompt_tokens_details'], 'cached_tokens') ??
    readCount(value['prompt_cache_hit_tokens']) ??
    0
  const reasoningTokens = readDetail(value['completion_tokens_details'], 'reasoning_tokens') ?? 0
  return {
    promptTokens,
    cachedTokens: Math.min(cachedTokens, promptTokens),
    reasoningTokens,
    // Some upstreams count reasoning beside the completion; their total gives it away.
    completionTokens:
      reasoningTokens > 0 && value['total_tokens'] === promptTokens + completionTokens + reasoningTokens
        ? completionTokens + reasoningTokens
        : Math.max(completionTokens, reasoningTokens),
  }
}

/** The usage object of our wire, with whatever else the upstream reported in it. */
export function formatUsage(
  usage: TokenUsage,
  costNanoUsd: NanoUsd,
  reported: unknown,
): Record<string, unknown> {
  const original = isRecord(reported) ? reported : {}
  return {
    ...original,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      ...asRecord(original['prompt_tokens_details']),
      cached_tokens: usage.cachedTokens,
    },
    completion_tokens_details: {
      ...asRecord(original['completion_tokens_details']),
      reasoning_tokens: usage.reasoningTokens,
    },
    cost_usd: usdFromNanoUsd(costNanoUsd),
  }
}

function readDetail(details: unknown, name: string): number | null {
  return isRecord(details) ? readCount(details[name]) : null
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
