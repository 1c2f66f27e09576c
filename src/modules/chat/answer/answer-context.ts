import {
  COUNTED_NOTHING,
  countCharged,
  countUnits,
  priceTokens,
  type CatalogModel,
} from '../../catalog/catalog.ts'
import { type InferenceRecord, type RequestBill } from '../../inference/inference.ts'
import { hasUsed, type TokenUsage } from '../../../wires/token-usage.ts'
import type { DeliveredText } from './delivered-text.ts'
import type { RequestAudio } from '../audio/audio-tokens.ts'

/** What is needed to turn an upstream's answer into the gateway's answer. */
export interface AnswerContext {
  readonly provider: string
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias. */
  readonly requestedModel: string
  readonly requestId: string
  /** Members of the answer whose values only the gateway knows. */
  readonly ownMembers?: Readonly<Record<string, unknown>> | undefined
  readonly record: InferenceRecord
  readonly bill: RequestBill
  readonly startedMs: number
  /** Upper bound of the tokens that the upstream has written so far, for an answer that was not read to its end. */
  readonly boundOutputTokens: () => number
  /** Counted only when an upstream reports no usage. */
  readonly countPromptTokens: () => number
  /** The same, or an upper bound if the prompt cannot be counted without the vendor. */
  readonly boundPromptTokens: () => number
  readonly countTokens: (text: string) => number
  /** How much of the request and its answer is audio. Used where the upstream does not report it. */
  readonly audioOf: () => RequestAudio
  /** Whether the request asks to keep its prompt in a cache for an hour. */
  readonly asksForHourCache: () => boolean
}

/** Id prefixes (`chatcmpl-…`, `cmpl-…`) that clients of this wire expect. */
export const ID_PREFIXES = { chat: 'chatcmpl-', completion: 'cmpl-' } as const

/** Records the usage of the request and its cost. An answer is free only if it reports no usage and delivers nothing. */
export function settleUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): TokenUsage {
  const usage = reported ?? countUsage(context, delivered)
  noteUsage(context, usage, delivered)
  return usage
}

/** Records the usage of an answer that was cut off. A report sent mid-stream may not include what was delivered after it. */
export function settlePartialUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): void {
  const counted = countUsage(context, delivered)
  noteUsage(context, reported === null ? counted : withDelivered(reported, counted), delivered)
}

/** Records the usage of a stream whose client left and which shows all that its vendor bills: the prompt, even before the first word. */
export function settleLeftUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): void {
  const counted = countBilled(context, delivered)
  noteUsage(context, reported === null ? counted : withDelivered(reported, counted), delivered)
}

/**
 * Records the usage of an answer whose client left while the vendor bills it, and which was not read to its usage. The vendor may
 * have produced more than was seen, so the most that it can have produced is charged: otherwise leaving would be a discount.
 */
export function settleAbandonedUsage(
  context: AnswerContext,
  reported: TokenUsage | null,
  delivered: DeliveredText,
): void {
  const deliveredTokens = delivered.countTokens(context.countTokens)
  const completionTokens = Math.max(deliveredTokens, context.boundOutputTokens())
  const estimated = {
    promptTokens: context.boundPromptTokens(),
    cachedTokens: 0,
    completionTokens,
    reasoningTokens: completionTokens - deliveredTokens,
  }
  noteUsage(context, reported === null ? estimated : withDelivered(reported, estimated), delivered)
}

/** Keeps the reported prompt tokens, which are exact, and the larger count of completion tokens. */
function withDelivered(reported: TokenUsage, counted: TokenUsage): TokenUsage {
  return {
    ...reported,
    promptTokens: reported.promptTokens > 0 ? reported.promptTokens : counted.promptTokens,
    completionTokens: Math.max(reported.completionTokens, counted.completionTokens),
  }
}

const NOTHING: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }

function countUsage(context: AnswerContext, delivered: DeliveredText): TokenUsage {
  return delivered.isEmpty ? NOTHING : countBilled(context, delivered)
}

function countBilled(context: AnswerContext, delivered: DeliveredText): TokenUsage {
  return {
    ...NOTHING,
    promptTokens: context.countPromptTokens(),
    completionTokens: delivered.countTokens(context.countTokens),
  }
}

function noteUsage(context: AnswerContext, usage: TokenUsage, delivered: DeliveredText): void {
  context.record.usage = usage
  const isFree = delivered.isEmpty && !hasUsed(usage)
  if (isFree) context.bill.charge(0n, COUNTED_NOTHING)
  else chargeAnswer(context, usage)
}

function chargeAnswer(context: AnswerContext, reported: TokenUsage): void {
  const { bill, model } = context
  const { price } = model
  if (price.unit !== 'token') {
    bill.charge(price.nanoUsdPerUnit, countUnits(1))
    return
  }
  const used = withCacheLife(context, reported)
  const { audioInputNanoUsdPer1m: heard, audioOutputNanoUsdPer1m: spoken } = price
  const usage = heard === undefined && spoken === undefined ? used : withAudio(used, context.audioOf())
  bill.charge(priceTokens(price, usage), countCharged(usage))
}

/** Assumes the cache lifetime that the request asked for if the upstream does not report one. */
function withCacheLife({ asksForHourCache }: AnswerContext, usage: TokenUsage): TokenUsage {
  const { cacheWriteTokens = 0, cacheWriteHourTokens } = usage
  if (cacheWriteTokens === 0 || cacheWriteHourTokens !== undefined || !asksForHourCache()) return usage
  return { ...usage, cacheWriteHourTokens: cacheWriteTokens }
}

/**
 * Fills in audio tokens that the upstream does not report: the audio that was sent, and all of an answer that was to be spoken.
 */
function withAudio(usage: TokenUsage, audio: RequestAudio): TokenUsage {
  return {
    ...usage,
    audioPromptTokens: usage.audioPromptTokens ?? audio.promptTokens,
    audioCompletionTokens: usage.audioCompletionTokens ?? (audio.isAnswerSpoken ? usage.completionTokens : 0),
  }
}
