import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'

/** What an answer used. Cached tokens are part of the prompt's, reasoning tokens of the completion's. */
export interface TokenUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Part of the prompt's too; absent where the upstream tells of none. */
  readonly cacheWriteTokens?: number
  /** Written to be kept for an hour, part of what was written; absent where the upstream does not tell. */
  readonly cacheWriteHourTokens?: number
  /** Sound in the prompt, part of it; absent where the upstream does not tell. */
  readonly audioPromptTokens?: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** Sound in the completion, part of it; absent where the upstream does not tell. */
  readonly audioCompletionTokens?: number
}

/**
 * Reads an upstream's usage object, or null when it has none that can be trusted. A report of nothing is believed like
 * any other.
 */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isRecord(value)) return null
  const prompt = readCount(value['prompt_tokens'] ?? value['input_tokens'])
  const completion = readCount(value['completion_tokens'] ?? value['output_tokens'])
  if (prompt === null || completion === null) return null
  const cache = readCache(value)
  const reasoning = readDetail(value['completion_tokens_details'], 'reasoning_tokens') ?? 0
  // Some upstreams count the cache or the reasoning beside the rest instead of inside; their total gives it away.
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

/** No token of a prompt is counted twice: what was read goes before what was written, and both are within the prompt. */
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
 * Of two reports of one answer, the larger of each count: a stream may report as it goes, once more, less or nothing at
 * its end, and none of that lowers what was used before.
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

/** Whether an upstream says that anything was used. */
export function hasUsed(usage: TokenUsage): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0
}

interface CacheCounts {
  /** Read from the cache and written to it, as far as they may be counted beside the input. */
  readonly tokens: number
  readonly readTokens: number
  readonly writtenTokens: number
  readonly hourTokens: number | undefined
  /** Whether the names are Anthropic's, who counts the cache beside the input. */
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

/** What Anthropic tells of writes by how long they are kept, where it does not tell the sum. */
function sumOfLives(creation: unknown): number | null {
  const minutes = readDetail(creation, 'ephemeral_5m_input_tokens')
  const hour = readDetail(creation, 'ephemeral_1h_input_tokens')
  return minutes === null && hour === null ? null : (minutes ?? 0) + (hour ?? 0)
}

// Anthropic's names under Anthropic's input, or more of a cache than there is prompt to hold it.
function isApart(value: Record<string, unknown>, cache: CacheCounts): boolean {
  const prompt = readCount(value['prompt_tokens'])
  return cache.isAnthropic && (prompt === null || cache.tokens > prompt)
}

/** The usage object of our wire, with whatever else the upstream reported in it. */
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

/** A hundred times what any model takes. Sums over more could leave what the books can hold, for whoever is charged beside it. */
const COUNT_MAX = 1_000_000_000

/** A count that can be trusted, or null. */
export function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX
    ? value
    : null
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
