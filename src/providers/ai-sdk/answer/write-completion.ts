import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider'

import { sumChatUsage, toChatUsage, type CompleteChatUsage } from './chat-usage.ts'
import { readStopSequence, toFinishReason } from './finish-reason.ts'
import { readReasoningDetail, readThoughtMark } from '../request/signed-content.ts'

/** Members that every payload of one answer repeats. */
export interface AnswerHead {
  readonly id: string
  readonly created: number
  /** The model id that the client requested. */
  readonly model: string
}

export interface CompletionChoice {
  readonly message: Record<string, unknown>
  readonly finishReason: string
  readonly stopSequence: string | undefined
  readonly usage: CompleteChatUsage | undefined
}

export function toCompletion(head: AnswerHead, choices: readonly CompletionChoice[]): object {
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: choices.map(({ message, finishReason, stopSequence }, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishReason,
      ...(stopSequence === undefined ? {} : { stop_reason: stopSequence }),
    })),
    usage: sumChatUsage(choices.map((choice) => choice.usage)),
    system_fingerprint: null,
  }
}

export function toCompletionChoice(
  provider: string,
  result: LanguageModelV4GenerateResult,
): CompletionChoice {
  const message = toMessage(result.content)
  const finishReason = toFinishReason(provider, result.finishReason, {
    isEmpty: result.content.length === 0,
    metadata: result.providerMetadata,
  })
  const stopSequence = readStopSequence(result.providerMetadata)
  return { message, finishReason, stopSequence, usage: toChatUsage(result.usage) }
}

function toMessage(content: readonly LanguageModelV4Content[]): Record<string, unknown> {
  const texts = content.filter((part) => part.type === 'text')
  const reasoning = content.filter((part) => part.type === 'reasoning')
  const toolCalls = content.filter((part) => part.type === 'tool-call' && part.providerExecuted !== true)
  const reasoningText = joinTexts(reasoning)
  const reasoningDetails = reasoning.flatMap((part) => readReasoningDetail(part.text, part.providerMetadata))
  const mark = texts
    .map((part) => readThoughtMark(part.providerMetadata))
    .findLast((found) => found !== undefined)
  return {
    role: 'assistant',
    content: texts.length === 0 && toolCalls.length > 0 ? null : joinTexts(texts),
    refusal: null,
    ...(reasoningText === '' ? {} : { reasoning_content: reasoningText }),
    ...(reasoningDetails.length === 0 ? {} : { reasoning_details: reasoningDetails }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.flatMap(toToolCall) }),
    ...(mark === undefined ? {} : { extra_content: mark }),
  }
}

function joinTexts(parts: ReadonlyArray<{ text: string }>): string {
  return parts.map((part) => part.text).join('')
}

function toToolCall(part: LanguageModelV4Content): Record<string, unknown>[] {
  if (part.type !== 'tool-call') return []
  const mark = readThoughtMark(part.providerMetadata)
  return [
    {
      id: part.toolCallId,
      type: 'function',
      function: { name: part.toolName, arguments: part.input },
      ...(mark === undefined ? {} : { extra_content: mark }),
    },
  ]
}
