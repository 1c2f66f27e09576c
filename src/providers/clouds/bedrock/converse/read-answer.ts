import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { readNumber, readPath, readString } from '../../../ai-sdk/exchange/read-json.ts'
import { invalidAnswer } from '../../../failures/upstream-error.ts'

/** Reads the answer of Converse. Throws an `UpstreamError` if it is none. */
export function readConverseAnswer(
  provider: string,
  answer: Readonly<Record<string, unknown>>,
): LanguageModelV4GenerateResult {
  const blocks = readPath(answer, 'output', 'message', 'content')
  if (!Array.isArray(blocks)) throw invalidAnswer(provider, 'its answer has no message')
  return {
    content: blocks.flatMap(readBlock),
    finishReason: readStopReason(readString(answer, 'stopReason')),
    usage: readUsage(answer['usage']),
    warnings: [],
  }
}

function readBlock(block: unknown): LanguageModelV4Content[] {
  const text = readString(block, 'text')
  if (text !== undefined) return [{ type: 'text', text }]
  const reasoning = readString(block, 'reasoningContent', 'reasoningText', 'text')
  if (reasoning !== undefined) return [{ type: 'reasoning', text: reasoning }]
  const toolCallId = readString(block, 'toolUse', 'toolUseId')
  const toolName = readString(block, 'toolUse', 'name')
  if (toolCallId === undefined || toolName === undefined) return []
  const input = JSON.stringify(readPath(block, 'toolUse', 'input') ?? {})
  return [{ type: 'tool-call', toolCallId, toolName, input }]
}

const STOP_REASONS: ReadonlyMap<string, LanguageModelV4FinishReason['unified']> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'content-filter'],
  ['guardrail_intervened', 'content-filter'],
  ['malformed_model_output', 'error'],
  ['malformed_tool_use', 'error'],
])

export function readStopReason(raw: string | undefined): LanguageModelV4FinishReason {
  return { unified: STOP_REASONS.get(raw ?? '') ?? 'other', raw }
}

/**
 * What is read from the cache and written to it is not part of `inputTokens`.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function readUsage(usage: unknown): LanguageModelV4Usage {
  const noCache = readNumber(usage, 'inputTokens')
  const cacheRead = readNumber(usage, 'cacheReadInputTokens')
  const cacheWrite = readNumber(usage, 'cacheWriteInputTokens')
  const output = readNumber(usage, 'outputTokens')
  const total = noCache === undefined ? undefined : noCache + (cacheRead ?? 0) + (cacheWrite ?? 0)
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  }
}
