import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'

import { TEXT_TYPES } from '../../../wires/media-types.ts'
import type { InferenceCall } from '../../provider.ts'
import { selectTools } from '../../requests/select-tools.ts'
import { withKnownBlocks } from '../answer/known-blocks.ts'
import { readSignedReasoning } from '../request/translate-assistant-message.ts'
import { withVendorOptions, type ReasoningLevel, type RefineContext, type Vendor } from '../vendor.ts'

export const anthropicVendor: Vendor = {
  key: 'anthropic',
  defaultBaseUrl: 'https://api.anthropic.com/v1',
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey, baseURL: baseUrl, fetch: withKnownBlocks(fetch) }).languageModel(modelId)
  },
  normalizeMediaType(mediaType) {
    if (mediaType === 'image/jpg') return 'image/jpeg'
    // Text documents are sent as plain text, whatever their markup.
    return mediaType.startsWith('text/') || TEXT_TYPES.has(mediaType) ? 'text/plain' : mediaType
  },
  normalizeCallId: (callId) => callId.replace(/[^a-zA-Z0-9_-]/g, '_'),
  needsJsonInstruction: () => true,
  selectStopSequences: (stopSequences) => stopSequences.filter((text) => text.trim() !== ''),
  refineOptions(options, context) {
    const { body } = context.call
    const { thinking, ...refined } = chooseThinking(options, context)
    return withVendorOptions(refined, {
      anthropic: {
        ...(thinking === undefined ? {} : { thinking }),
        ...(body.parallel_tool_calls === false ? { disableParallelToolUse: true } : {}),
        ...(typeof body.user === 'string' ? { metadata: { userId: body.user } } : {}),
      },
    })
  },
}

interface ThinkingOptions extends LanguageModelV4CallOptions {
  thinking?: { type: 'enabled'; budgetTokens: number }
}

function chooseThinking(
  options: LanguageModelV4CallOptions,
  { call, reasoning }: RefineContext,
): ThinkingOptions {
  if (reasoning === undefined) return options
  if (reasoning === 'none' || !takesThinkingBudget(call.upstreamModel)) return { ...options, reasoning }
  if (!allowsThinkingBudget(call)) return options
  const { maxOutputTokens } = options
  if (maxOutputTokens === undefined) return { ...options, reasoning }
  if (maxOutputTokens <= BUDGET_TOKENS_MIN) return options
  const wantedTokens = Math.round(maxOutputTokens * BUDGET_SHARES[reasoning])
  const budgetTokens = Math.min(Math.max(wantedTokens, BUDGET_TOKENS_MIN), maxOutputTokens - 1)
  // The package adds the budget to the output limit. The client's limit and the credit hold include thinking tokens, so subtract
  // it.
  return {
    ...options,
    maxOutputTokens: maxOutputTokens - budgetTokens,
    thinking: { type: 'enabled', budgetTokens },
  }
}

const BUDGET_TOKENS_MIN = 1024

const BUDGET_SHARES: Readonly<Record<Exclude<ReasoningLevel, 'none'>, number>> = {
  minimal: 0.05,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
}

// A closed list: all later models choose their amount of thinking themselves.
const BUDGET_MODELS = /claude-(3|(opus|sonnet|haiku)-4-(0|1|5|2025\d{4}))(?!\d)/

function takesThinkingBudget(modelId: string): boolean {
  return !modelId.includes('claude-') || BUDGET_MODELS.test(modelId)
}

/**
 * With a thinking budget, Anthropic refuses a forced tool, and a tool result whose call has no signed thinking. The client's
 * tools are more important than the thinking.
 */
function allowsThinkingBudget({ body }: InferenceCall): boolean {
  const { choice } = selectTools(body)
  if (choice === 'required' || (typeof choice === 'object' && choice !== null)) return false
  const lastUserIndex = body.messages.findLastIndex((message) => message.role === 'user')
  const unsigned = body.messages
    .slice(lastUserIndex + 1)
    .some((message) => message.role === 'assistant' && readSignedReasoning(message).length === 0)
  return !unsigned
}
