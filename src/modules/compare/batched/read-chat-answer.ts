import { isRecord } from '../../../kernel/is-record.ts'
import { nanoUsdFromUsd } from '../../../kernel/money.ts'
import type { ToldCall } from '../cells/chat-call.ts'
import type { CellUsage } from '../runs/run.ts'

/** Reads a whole answer of a chat, as the gateway wrote it. It has no times: a batch answers when it can. */
export function readChatAnswer(body: unknown): ToldCall {
  const { choices, usage, model } = isRecord(body) ? body : {}
  const choice: unknown = Array.isArray(choices) ? choices[0] : null
  const { message, finish_reason: finishReason } = isRecord(choice) ? choice : {}
  const {
    content,
    refusal,
    reasoning_content: reasoning,
    tool_calls: toolCalls,
  } = isRecord(message) ? message : {}
  return {
    output: textOf(content) + textOf(refusal),
    reasoning: textOf(reasoning) === '' ? null : textOf(reasoning),
    toolCalls: Array.isArray(toolCalls) && toolCalls.length > 0 ? toolCalls : null,
    finishReason: typeof finishReason === 'string' ? finishReason : null,
    isCutByAmount: false,
    usage: isRecord(usage) ? readUsage(usage) : null,
    costNanoUsd:
      isRecord(usage) && typeof usage['cost_usd'] === 'number' ? nanoUsdFromUsd(usage['cost_usd']) : 0n,
    latencyMs: null,
    ttftMs: null,
    model: typeof model === 'string' ? model : null,
    provider: null,
  }
}

function readUsage({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  prompt_tokens_details: promptDetails,
  completion_tokens_details: completionDetails,
}: Record<string, unknown>): CellUsage {
  return {
    promptTokens: countOf(promptTokens),
    cachedTokens: isRecord(promptDetails) ? countOf(promptDetails['cached_tokens']) : 0,
    completionTokens: countOf(completionTokens),
    reasoningTokens: isRecord(completionDetails) ? countOf(completionDetails['reasoning_tokens']) : 0,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
