import type { NanoUsd } from '../../../kernel/money.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import { countInputs } from '../../../wires/text-input.ts'
import { estimateProfileOf, type EstimateProfile, type RateStep } from './estimate-profile.ts'
import {
  boundChatPromptTokens,
  boundCompletionPromptTokens,
  boundAudioTokens,
} from './estimate-prompt-tokens.ts'
import { refineChatPromptTokens, refineCompletionPromptTokens } from './estimate-refined-tokens.ts'
import { isSpokenAnswerAsked } from '../audio/audio-parts.ts'

/** The maximum cost of a request. This amount is held before an upstream is called. */
export interface WorstCase {
  /** Upper bound of the prompt tokens that an upstream reports. */
  readonly promptTokensMax: number
  /** Tokens that one choice may have, reasoning included: the requested limit, or the model's maximum. */
  readonly outputTokensMax: number
  readonly choices: number
  /** Cost of prompt and complete output. Held if the balance is sufficient. */
  readonly wantedNanoUsd: NanoUsd
  /** Cost of the prompt and one token per choice. With less, the request is refused. */
  readonly leastNanoUsd: NanoUsd
  /** Maximum cost of the prompt, in millionths of a nano-dollar. */
  readonly promptAmount: bigint
  /** Extra cost of the prompt if all of it is cached for an hour, in millionths of a nano-dollar. */
  readonly hourCacheAmount: bigint
  /** Maximum price of an output token. 0 if the price is per request. */
  readonly outputNanoUsdPer1m: NanoUsd
}

/** Estimates from the request's bytes, in about a microsecond. */
export function estimateChat(model: CatalogModel, body: ChatRequest, requestBytes: number): WorstCase {
  const profile = estimateProfileOf(model)
  return priceChat(profile, body, boundChatPromptTokens(profile, body, requestBytes))
}

/** Estimates with a tokenizer, for when the balance does not cover the cheap bound. Never higher than that bound. */
export function refineChat(model: CatalogModel, body: ChatRequest, requestBytes: number): WorstCase {
  const profile = estimateProfileOf(model)
  const bound = boundChatPromptTokens(profile, body, requestBytes)
  if (profile.rateSteps === null) return priceChat(profile, body, bound)
  return priceChat(profile, body, Math.min(refineChatPromptTokens(profile, body), bound))
}

export function estimateCompletion(
  model: CatalogModel,
  body: CompletionRequest,
  requestBytes: number,
): WorstCase {
  const profile = estimateProfileOf(model)
  return priceCompletion(profile, body, boundCompletionPromptTokens(profile, body, requestBytes))
}

export function refineCompletion(
  model: CatalogModel,
  body: CompletionRequest,
  requestBytes: number,
): WorstCase {
  const profile = estimateProfileOf(model)
  const bound = boundCompletionPromptTokens(profile, body, requestBytes)
  if (profile.rateSteps === null) return priceCompletion(profile, body, bound)
  return priceCompletion(profile, body, Math.min(refineCompletionPromptTokens(profile, body), bound))
}

/** Returns how many output tokens per choice the held amount covers: at least one, at most the requested limit. */
export function outputTokensCovered(worstCase: WorstCase, heldNanoUsd: NanoUsd): number {
  const { outputTokensMax, choices, wantedNanoUsd, outputNanoUsdPer1m } = worstCase
  if (heldNanoUsd >= wantedNanoUsd || outputNanoUsdPer1m === 0n) return outputTokensMax
  const left = heldNanoUsd * TOKENS_PER_PRICE - worstCase.promptAmount
  const tokens = Number(left / (BigInt(choices) * outputNanoUsdPer1m))
  return Math.min(Math.max(tokens, 1), outputTokensMax)
}

/** OpenAI's default on the legacy route. The gateway applies it to every model. */
const COMPLETION_OUTPUT_TOKENS_DEFAULT = 16
/** Far above any valid request. Keeps the arithmetic exact for any input. */
const CHOICES_MAX = 1_000_000
const TOKENS_PER_PRICE = 1_000_000n

function priceChat(profile: EstimateProfile, body: ChatRequest, promptTokens: number): WorstCase {
  const choices = readCount(body.n, CHOICES_MAX) ?? 1
  const asked = body.max_completion_tokens ?? body.max_tokens
  return priceWorstCase(profile, {
    promptTokens: profile.isPromptBilledPerChoice ? promptTokens * choices : promptTokens,
    outputTokens: readCount(asked, profile.outputTokensMax) ?? profile.outputTokensMax,
    choices,
    ...(profile.isAudioPriced ? boundAudio(profile, body, choices) : null),
  })
}

function priceCompletion(profile: EstimateProfile, body: CompletionRequest, promptTokens: number): WorstCase {
  const perPrompt = readCount(body.n, CHOICES_MAX) ?? 1
  const written = Math.max(perPrompt, readCount(body.best_of, CHOICES_MAX) ?? 1)
  const asked = body.max_completion_tokens ?? body.max_tokens ?? COMPLETION_OUTPUT_TOKENS_DEFAULT
  return priceWorstCase(profile, {
    promptTokens: profile.isPromptBilledPerChoice ? promptTokens * perPrompt : promptTokens,
    outputTokens: readCount(asked, profile.outputTokensMax) ?? profile.outputTokensMax,
    choices: written * countInputs(body.prompt),
  })
}

interface Counts {
  readonly promptTokens: number
  readonly outputTokens: number
  readonly choices: number
  /** Part of the prompt tokens. */
  readonly audioTokens?: number
  readonly isAnswerSpoken?: boolean
}

function boundAudio(profile: EstimateProfile, body: ChatRequest, choices: number) {
  const audioTokens = boundAudioTokens(profile, body)
  return {
    audioTokens: profile.isPromptBilledPerChoice ? audioTokens * choices : audioTokens,
    isAnswerSpoken: isSpokenAnswerAsked(body),
  }
}

function priceWorstCase(profile: EstimateProfile, counts: Counts): WorstCase {
  const { promptTokens, outputTokens, choices, audioTokens = 0, isAnswerSpoken = false } = counts
  let wantedNanoUsd = profile.nanoUsdPerRequest
  let leastNanoUsd = wantedNanoUsd
  let promptAmount = 0n
  let hourCacheAmount = 0n
  let outputNanoUsdPer1m = 0n
  if (profile.rateSteps !== null) {
    const rates = selectStep(profile.rateSteps, promptTokens)
    promptAmount = BigInt(promptTokens) * rates.inputNanoUsdPer1m
    hourCacheAmount = BigInt(promptTokens) * (rates.hourInputNanoUsdPer1m - rates.inputNanoUsdPer1m)
    if (audioTokens > 0)
      promptAmount +=
        BigInt(Math.min(audioTokens, promptTokens)) * (rates.audioInputNanoUsdPer1m - rates.inputNanoUsdPer1m)
    outputNanoUsdPer1m = isAnswerSpoken ? rates.audioOutputNanoUsdPer1m : rates.outputNanoUsdPer1m
    const prompt = promptAmount + TOKENS_PER_PRICE - 1n
    wantedNanoUsd = (prompt + BigInt(outputTokens * choices) * outputNanoUsdPer1m) / TOKENS_PER_PRICE
    leastNanoUsd = (prompt + BigInt(choices) * outputNanoUsdPer1m) / TOKENS_PER_PRICE
  }
  return {
    promptAmount,
    hourCacheAmount,
    outputNanoUsdPer1m,
    promptTokensMax: promptTokens,
    outputTokensMax: outputTokens,
    choices,
    wantedNanoUsd,
    leastNanoUsd,
  }
}

function selectStep(steps: readonly RateStep[], promptTokens: number): RateStep {
  let selected: RateStep | undefined
  for (const step of steps) {
    if (selected !== undefined && promptTokens <= step.aboveTokens) break
    selected = step
  }
  if (selected === undefined) throw new RangeError('a token price has at least one step')
  return selected
}

/** Returns a whole number from 1 to `max`, or undefined if the request has none. */
function readCount(value: number | null | undefined, max: number): number | undefined {
  if (value === null || value === undefined) return undefined
  return value >= 1 ? Math.min(Math.ceil(value), max) : 1
}
