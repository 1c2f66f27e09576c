import { isRecord } from '../../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import { readCount, readUsage, type TokenUsage } from '../../../wires/token-usage.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Reads the usage object of Anthropic's wire. Cached tokens are counted beside the rest of the input. So are extra steps of the
 * vendor, such as a summary of a long prompt; each has its own entry.
 */
export function readMessageUsage(reported: unknown): TokenUsage | null {
  if (!isRecord(reported)) return null
  const { iterations } = reported
  const steps = Array.isArray(iterations) ? iterations.slice(0, STEPS_MAX).filter(isStepBeside) : []
  const whole = steps.length === 0 ? reported : addCounts([reported, ...steps], COUNTS)
  const details = reported['output_tokens_details']
  // This wire's name for the reasoning tokens of the answer.
  const thoughts = isRecord(details) ? details['thinking_tokens'] : undefined
  return readUsage(
    thoughts === undefined ? whole : { ...whole, completion_tokens_details: { reasoning_tokens: thoughts } },
  )
}

/** Far more steps than a vendor takes for one answer. */
const STEPS_MAX = 1_000

/** Whether the counts of the answer do not include this step. */
function isStepBeside(entry: unknown): entry is Members {
  return isRecord(entry) && (entry['type'] === 'compaction' || entry['type'] === 'advisor_message')
}

const COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
const CACHE_COUNTS = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']

/** Returns the first entry with the counts of all entries added up. */
function addCounts(all: readonly Members[], names: readonly string[]): Members {
  const sums = names.map((name) => [
    name,
    all.reduce((sum, members) => sum + (readCount(members[name]) ?? 0), 0),
  ])
  const caches = all.map((members) => members['cache_creation']).filter(isRecord)
  return {
    ...all[0],
    ...Object.fromEntries(sums),
    ...(caches.length === 0 ? {} : { cache_creation: addCounts(caches, CACHE_COUNTS) }),
  }
}

/** Returns the usage of our answer: the upstream's counts or our own, with the cost. */
export function formatMessageUsage(usage: TokenUsage, costNanoUsd: NanoUsd, reported: unknown): object {
  const shown = readUsage(reported) ?? usage
  const { cacheWriteTokens: written = 0, cacheWriteHourTokens: hour } = shown
  return {
    ...(isRecord(reported) ? reported : {}),
    input_tokens: Math.max(0, shown.promptTokens - shown.cachedTokens - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: shown.cachedTokens,
    ...(hour === undefined ? {} : { cache_creation: cacheLifetimes(written, hour) }),
    output_tokens: shown.completionTokens,
    cost_usd: usdFromNanoUsd(costNanoUsd),
  }
}

function cacheLifetimes(writtenTokens: number, hourTokens: number): object {
  return { ephemeral_5m_input_tokens: writtenTokens - hourTokens, ephemeral_1h_input_tokens: hourTokens }
}
