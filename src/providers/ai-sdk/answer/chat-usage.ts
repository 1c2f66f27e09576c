import type { LanguageModelV4Usage } from '@ai-sdk/provider'

import { isRecord } from '../../../kernel/is-record.ts'
import type { ChatUsage } from '../../../wires/openai-chat/chat-request.ts'

/** Usage as OpenAI counts it: the prompt includes cached tokens, the completion includes reasoning tokens. */
export interface CompleteChatUsage extends ChatUsage {
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens?: number; audio_tokens?: number }
  completion_tokens_details: { reasoning_tokens: number }
}

/** Returns undefined if the vendor reported no usage, which is not the same as zero usage. */
export function toChatUsage({
  inputTokens,
  outputTokens,
  raw,
}: LanguageModelV4Usage): CompleteChatUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  return buildUsage({
    promptTokens: inputTokens.total ?? 0,
    cachedTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    audioTokens: readAudioTokens(raw),
    completionTokens: outputTokens.total ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  })
}

/** Reads Google's token counts by modality. Undefined if there are none. */
function readAudioTokens(raw: LanguageModelV4Usage['raw']): number | undefined {
  const details = raw?.['promptTokensDetails']
  if (!Array.isArray(details)) return undefined
  let tokens = 0
  for (const detail of details) {
    if (!isRecord(detail) || detail['modality'] !== 'AUDIO') continue
    const { tokenCount } = detail
    if (typeof tokenCount === 'number') tokens += tokenCount
  }
  return tokens
}

/**
 * Adds up the usage of all choices: each is a separate upstream call that bills its prompt. Undefined if one reported no usage.
 */
export function sumChatUsage(
  reported: readonly (CompleteChatUsage | undefined)[],
): CompleteChatUsage | undefined {
  const usages = reported.filter((usage) => usage !== undefined)
  if (usages.length < reported.length) return undefined
  const sum = (count: (usage: CompleteChatUsage) => number) =>
    usages.reduce((total, usage) => total + count(usage), 0)
  return buildUsage({
    promptTokens: sum((usage) => usage.prompt_tokens),
    cachedTokens: sum((usage) => usage.prompt_tokens_details.cached_tokens),
    cacheWriteTokens: sum((usage) => usage.prompt_tokens_details.cache_write_tokens ?? 0),
    audioTokens: usages.some((usage) => usage.prompt_tokens_details.audio_tokens !== undefined)
      ? sum((usage) => usage.prompt_tokens_details.audio_tokens ?? 0)
      : undefined,
    completionTokens: sum((usage) => usage.completion_tokens),
    reasoningTokens: sum((usage) => usage.completion_tokens_details.reasoning_tokens),
  })
}

function buildUsage(counts: {
  promptTokens: number
  cachedTokens: number
  cacheWriteTokens: number
  audioTokens: number | undefined
  completionTokens: number
  reasoningTokens: number
}): CompleteChatUsage {
  return {
    prompt_tokens: counts.promptTokens,
    completion_tokens: counts.completionTokens,
    total_tokens: counts.promptTokens + counts.completionTokens,
    prompt_tokens_details: {
      cached_tokens: counts.cachedTokens,
      ...(counts.cacheWriteTokens === 0 ? {} : { cache_write_tokens: counts.cacheWriteTokens }),
      ...(counts.audioTokens === undefined ? {} : { audio_tokens: counts.audioTokens }),
    },
    completion_tokens_details: { reasoning_tokens: counts.reasoningTokens },
  }
}
