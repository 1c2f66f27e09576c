import { isRecord } from '../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../kernel/money.ts'

/** The usage of an answer. Cached tokens are part of the prompt tokens, reasoning tokens of the completion tokens. */
export interface TokenUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Part of the prompt tokens. Absent if the upstream reports none. */
  readonly cacheWriteTokens?: number
  /** Part of `cacheWriteTokens` that is kept for an hour. Absent if the upstream does not report it. */
  readonly cacheWriteHourTokens?: number
  /** Audio in the prompt, part of the prompt tokens. Absent if the upstream does not report it. */
  readonly audioPromptTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** Audio in the completion, part of the completion tokens. Absent if the upstream does not report it. */
  readonly audioCompletionTokens?: number
}

/** Reads an upstream's usage object. Returns null if it has no valid counts. Counts of zero are valid. */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isRecord(value)) return null
  const prompt = readCount(value['prompt_tokens'] ?? value['input_tokens'])
  const completion = readCount(value['completion_tokens'] ?? value['output_tokens'])
  if (prompt === null || completion === null) return null
  const cache = readCache(value)
  const reasoning = readDetail(value['completion_tokens_details'], 'reasoning_tokens') ?? 0
  // Some upstreams count the cache or the reasoning beside the other tokens instead of inside. Their total shows which.
  const excess = (readCount(value['total_tokens']) ?? 0) - prompt - completion
  const isReasoningBeside = reasoning > 0 && (excess === reasoning || excess === reasoning + cache.tokens)
  const isCacheBeside =
    cache.tokens > 0 &&
    (excess === cache.tokens + (isReasoningBeside ? reasoning : 0) || isApart(value, cache))
  const promptTokens = isCacheBeside ? prompt + cache.tokens : prompt
  return {
    promptTokens,
    ...fitCache(promptTokens, {
      cachedTokens: cache.readTokens,
      cacheWriteTokens: cache.writtenTokens,
      cacheWriteHourTokens: cache.hourTokens,
    }),
    reasoningTokens: reasoning,
    completionTokens: isReasoningBeside ? completion + reasoning : Math.max(completion, reasoning),
    ...readAudio(value),
  }
}

/** Counts no prompt token twice: cache reads first, then cache writes, both within the prompt. */
function fitCache(
  promptTokens: number,
  reported: { cachedTokens: number; cacheWriteTokens: number; cacheWriteHourTokens: number | undefined },
): Pick<TokenUsage, 'cachedTokens' | 'cacheWriteTokens' | 'cacheWriteHourTokens'> {
  const cachedTokens = Math.min(reported.cachedTokens, promptTokens)
  const cacheWriteTokens = Math.min(reported.cacheWriteTokens, promptTokens - cachedTokens)
  if (cacheWriteTokens === 0) return { cachedTokens }
  if (reported.cacheWriteHourTokens === undefined) return { cachedTokens, cacheWriteTokens }
  const cacheWriteHourTokens = Math.min(reported.cacheWriteHourTokens, cacheWriteTokens)
  return { cachedTokens, cacheWriteTokens, cacheWriteHourTokens }
}

type AudioCounts = Pick<TokenUsage, 'audioPromptTokens' | 'audioCompletionTokens'>

function readAudio(value: Record<string, unknown>): AudioCounts {
  const prompt = readDetail(value['prompt_tokens_details'], 'audio_tokens')
  const completion = readDetail(value['completion_tokens_details'], 'audio_tokens')
  return {
    ...(prompt === null ? {} : { audioPromptTokens: prompt }),
    ...(completion === null ? {} : { audioCompletionTokens: completion }),
  }
}

/**
 * Merges two reports of one answer by taking the larger of each count. A stream may report several times, and a later report may
 * be smaller or zero; it must not lower the usage.
 */
export function mergeUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const promptTokens = Math.max(a.promptTokens, b.promptTokens)
  return {
    ...mergeAudio(a, b),
    promptTokens,
    ...fitCache(promptTokens, {
      cachedTokens: Math.max(a.cachedTokens, b.cachedTokens),
      cacheWriteTokens: Math.max(a.cacheWriteTokens ?? 0, b.cacheWriteTokens ?? 0),
      cacheWriteHourTokens: largerOf(a.cacheWriteHourTokens, b.cacheWriteHourTokens),
    }),
    completionTokens: Math.max(a.completionTokens, b.completionTokens),
    reasoningTokens: Math.max(a.reasoningTokens, b.reasoningTokens),
  }
}

function mergeAudio(a: AudioCounts, b: AudioCounts): AudioCounts {
  const prompt = largerOf(a.audioPromptTokens, b.audioPromptTokens)
  const completion = largerOf(a.audioCompletionTokens, b.audioCompletionTokens)
  return {
    ...(prompt === undefined ? {} : { audioPromptTokens: prompt }),
    ...(completion === undefined ? {} : { audioCompletionTokens: completion }),
  }
}

function largerOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

/** Whether the upstream reports any usage. */
export function hasUsed(usage: TokenUsage): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0
}

interface CacheCounts {
  /** Tokens read from the cache and written to it, which may be counted beside the input. */
  readonly tokens: number
  readonly readTokens: number
  readonly writtenTokens: number
  readonly hourTokens: number | undefined
  /** Whether the names are Anthropic's, which counts the cache beside the input. */
  readonly isAnthropic: boolean
}

function readCache(value: Record<string, unknown>): CacheCounts {
  const hourTokens = readDetail(value['cache_creation'], 'ephemeral_1h_input_tokens') ?? undefined
  const read = readCount(value['cache_read_input_tokens'])
  const written = readCount(value['cache_creation_input_tokens']) ?? sumOfLives(value['cache_creation'])
  if (read !== null || written !== null)
    return {
      tokens: (read ?? 0) + (written ?? 0),
      readTokens: read ?? 0,
      writtenTokens: written ?? 0,
      hourTokens,
      isAnthropic: true,
    }
  const cached =
    readDetail(value['prompt_tokens_details'], 'cached_tokens') ??
    readCount(value['prompt_cache_hit_tokens']) ??
    readCount(value['cached_tokens']) ??
    0
  const writtenTokens = readDetail(value['prompt_tokens_details'], 'cache_write_tokens') ?? 0
  return { tokens: cached, readTokens: cached, writtenTokens, hourTokens, isAnthropic: false }
}

/** Adds up Anthropic's cache writes by lifetime, for reports without a total. */
function sumOfLives(creation: unknown): number | null {
  const minutes = readDetail(creation, 'ephemeral_5m_input_tokens')
  const hour = readDetail(creation, 'ephemeral_1h_input_tokens')
  return minutes === null && hour === null ? null : (minutes ?? 0) + (hour ?? 0)
}

// Anthropic's names with Anthropic's input, or more cached tokens than the prompt has.
function isApart(value: Record<string, unknown>, cache: CacheCounts): boolean {
  const prompt = readCount(value['prompt_tokens'])
  return cache.isAnthropic && (prompt === null || cache.tokens > prompt)
}

/** Returns the usage object of our wire, with the other members that the upstream reported. */
export function formatUsage(
  usage: TokenUsage,
  costNanoUsd: NanoUsd,
  reported: unknown,
): Record<string, unknown> {
  const original = isRecord(reported) ? reported : {}
  const prompt = asRecord(original['prompt_tokens_details'])
  const isWriteTold = usage.cacheWriteTokens !== undefined || 'cache_write_tokens' in prompt
  return {
    ...original,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      ...prompt,
      cached_tokens: usage.cachedTokens,
      ...(isWriteTold ? { cache_write_tokens: usage.cacheWriteTokens ?? 0 } : {}),
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

/**
 * A hundred times what any model accepts. Sums of larger counts could exceed the ledger's columns, and then fail the charges of
 * other accounts in the same batch.
 */
const COUNT_MAX = 1_000_000_000

/** Returns a valid count, or null. */
export function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX
    ? value
    : null
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
