import { isRecord } from '../../kernel/is-record.ts'

type Reported = Record<string, unknown>

/**
 * Adds up the usage of several answers, including cached and reasoning tokens, which have their own prices. Undefined if an
 * answer reported no usage.
 */
export function sumUsage(usages: readonly unknown[]): Reported | undefined {
  const reported = usages.filter(isRecord)
  if (reported.length !== usages.length) return undefined
  const sum = (read: (usage: Reported) => number) => reported.reduce((total, usage) => total + read(usage), 0)
  const written = sum((usage) => part(usage, 'prompt_tokens_details', 'cache_write_tokens'))
  return {
    prompt_tokens: sum((usage) => count(usage['prompt_tokens'])),
    completion_tokens: sum((usage) => count(usage['completion_tokens'])),
    total_tokens: sum((usage) => count(usage['total_tokens'])),
    prompt_tokens_details: {
      // DeepSeek reports the same count under both names.
      cached_tokens: sum(
        (usage) =>
          part(usage, 'prompt_tokens_details', 'cached_tokens') || count(usage['prompt_cache_hit_tokens']),
      ),
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: sum((usage) => part(usage, 'completion_tokens_details', 'reasoning_tokens')),
    },
  }
}

function part(usage: Reported, details: string, name: string): number {
  const parts = usage[details]
  return isRecord(parts) ? count(parts[name]) : 0
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
