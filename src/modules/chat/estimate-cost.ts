import type { NanoUsd } from '../../kernel/money.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../wires/openai-completions/completion-request.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import { countInputs } from '../inference/inference.ts'
import { estimateProfileOf, type EstimateProfile, type RateStep } from './estimate-profile.ts'
import {
  boundChatPromptTokens,
  boundCompletionPromptTokens,
  boundSoundTokens,
} from './estimate-prompt-tokens.ts'
import { refineChatPromptTokens, refineCompletionPromptTokens } from './estimate-refined-tokens.ts'
import { isSpokenAnswerAsked } from './sound-parts.ts'

/** The most a request can cost. What is held for it, so that no charge is ever above a hold. */
export interface WorstCase {
  /** Upper bound of the prompt tokens an upstream reports. */
  readonly promptTokensMax: number
  /** What one choice may write: what was asked for, else the model's maximum. Reasoning is inside. */
  readonly outputTokensMax: number
  readonly choices: number
  /** Prompt plus all output: what is held when the balance is ample. */
  readonly wantedNanoUsd: NanoUsd
  /** Prompt plus one token for each choice: below this the request is refused. */
  readonly leastNanoUsd: NanoUsd
  /** What the prompt costs at most, in millionths of a nano-dollar. */
  readonly promptAmount: bigint
  /** What more the prompt costs when all of it is kept in a cache for an hour, in the same parts. */
  readonly hourCacheAmount: bigint
  /** What each token of the answer costs at most; 0 where a request has one price. */
  readonly outputNanoUsdPer1m: NanoUsd
}

/** By the bytes of the request. Costs about a microsecond. */
export function estimateChat(model: CatalogModel, body: ChatRequest, requestBytes: number): WorstCase {
  const profile = estimateProfileOf(model)
  return priceChat(profile, body, boundChatPromptTokens(profile, body, requestBytes))
}

/** With a tokenizer, for when the cheap bound does not fit into the balance. Never above it. */
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

/** How many output tokens a choice may write when so much is held. At least one, at most what was asked for. */
export function outputTokensCovered(worstCase: WorstCase, heldNanoUsd: NanoUsd): number {
  const { outputTokensMax, choices, wantedNanoUsd, outputNanoUsdPer1m } = worstCase
  if (heldNanoUsd >= wantedNanoUsd || outputNanoUsdPer1m === 0n) return outputTokensMax
  const left = heldNanoUsd * TOKENS_PER_PRICE - worstCase.promptAmount
  const tokens = Number(left / (BigInt(choices) * outputNanoUsdPer1m))
  return Math.min(Math.max(tokens, 1), outputTokensMax)
}

/** OpenAI's default for the legacy route, kept by the gateway for every model. */
const COMPLETION_OUTPUT_TOKENS_DEFAULT = 16
/** Far above what a valid request can ask for; keeps the arithmetic exact whatever arrives. */
const CHOICES_MAX = 1_000_000
const TOKENS_PER_PRICE = 1_000_000n

function priceChat(profile: EstimateProfile, body: ChatRequest, promptTokens: number): WorstCase {
  const choices = readCount(body.n, CHOICES_MAX) ?? 1
  const asked = body.max_completion_tokens ?? body.max_tokens
  return priceWorstCase(profile, {
    promptTokens: profile.isPromptBilledPerChoice ? promptTokens * choices : promptTokens,
    outputTokens: readCount(asked, profile.outputTokensMax) ?? profile.outputTokensMax,
    choices,
    ...(profile.isSoundPriced ? boundSound(profile, body, choices) : null),
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
  /** Part of the prompt's. */
  readonly soundTokens?: number
  readonly isAnswerSpoken?: boolean
}

function boundSound(profile: EstimateProfile, body: ChatRequest, choices: number) {
  const soundTokens = boundSoundTokens(profile, body)
  return {
    soundTokens: profile.isPromptBilledPerChoice ? soundTokens * choices : soundTokens,
    isAnswerSpoken: isSpokenAnswerAsked(body),
  }
}

function priceWorstCase(profile: EstimateProfile, counts: Counts): WorstCase {
  const { promptTokens, outputTokens, choices, soundTokens = 0, isAnswerSpoken = false } = counts
  let wantedNanoUsd = profile.nanoUsdPerRequest
  let leastNanoUsd = wantedNanoUsd
  let promptAmount = 0n
  let hourCacheAmount = 0n
  let outputNanoUsdPer1m = 0n
  if (profile.rateSteps !== null) {
    const rates = selectStep(profile.rateSteps, promptTokens)
    promptAmount = BigInt(promptTokens) * rates.inputNanoUsdPer1m
    hourCacheAmount = BigInt(promptTokens) * (rates.hourInputNanoUsdPer1m - rates.inputNanoUsdPer1m)
    if (soundTokens > 0)
      promptAmount +=
        BigInt(Math.min(soundTokens, promptTokens)) * (rates.audioInputNanoUsdPer1m - rates.inputNanoUsdPer1m)
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

/** A whole number from 1 to `max`; undefined where nothing was asked for. */
function readCount(value: number | null | undefined, max: number): number | undefined {
  if (value === null || value === undefined) return undefined
  return value >= 1 ? Math.min(Math.ceil(value), max) : 1
}
