import type { NanoUsd } from '../../kernel/money.ts'
import { priceTokens, type CatalogModel } from '../catalog/catalog.ts'
import type { InferenceRecord, RequestBill, TokenUsage } from '../inference/inference.ts'
import type { DeliveredText } from './delivered-text.ts'

/** What is needed to turn an upstream's answer into ours. */
export interface AnswerContext {
  readonly provider: string
  readonly operation: 'chat' | 'completion'
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias. */
  readonly requestedModel: string
  readonly record: InferenceRecord
  readonly bill: RequestBill
  readonly startedMs: number
  /** Counted only when an upstream reports no usage. */
  readonly countPromptTokens: () => number
  readonly countTokens: (text: string) => number
}

/** `chatcmpl-…` and `cmpl-…`, as clients of this wire expect. */
export const ID_PREFIXES = { chat: 'chatcmpl-', completion: 'cmpl-' } as const

/** Fixes what the request used and what that costs. An empty answer costs nothing. */
export function settleUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): TokenUsage {
  const usage = reported ?? countUsage(context, delivered)
  noteUsage(context, usage, delivered)
  return usage
}

/** The same for an answer that broke off: a report from its middle may not know yet of what was delivered. */
export function settlePartialUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): void {
  const counted = countUsage(context, delivered)
  const isBehind = reported === null || reported.completionTokens < counted.completionTokens
  noteUsage(context, isBehind ? counted : reported, delivered)
}

function countUsage(context: AnswerContext, delivered: DeliveredText): TokenUsage {
  return {
    promptTokens: context.countPromptTokens(),
    cachedTokens: 0,
    completionTokens: delivered.countTokens(context.countTokens),
    reasoningTokens: 0,
  }
}

function noteUsage(context: AnswerContext, usage: TokenUsage, delivered: DeliveredText): void {
  context.record.usage = usage
  const price = delivered.isEmpty ? 0n : priceAnswer(context.model, usage)
  const { heldNanoUsd } = context.bill
  context.record.costNanoUsd = price < heldNanoUsd ? price : heldNanoUsd
}

function priceAnswer({ price }: CatalogModel, usage: TokenUsage): NanoUsd {
  return price.unit === 'token' ? priceTokens(price, usage) : price.nanoUsdPerUnit
}
