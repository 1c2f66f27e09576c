import type { Category } from '../../catalog/catalog.ts'
import type { UsedUp } from '../../limits/limits.ts'
import type { AskedMembers, InferenceRecord, OperationName } from '../inference-record.ts'

/** What limits and traces need to know about an operation. */
interface OperationTraits {
  /** The category of its models, for the limits: they are checked before the model is known. */
  readonly category: Category
  /** Its name in OpenTelemetry's GenAI conventions, or our own name if they have none. */
  readonly traced:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'generate_content'
    | 'rerank'
    | 'moderation'
    | 'transcription'
  /** Whether the chat members have a meaning here. Other operations pass them on unchecked. */
  readonly writesText: boolean
  /** Whether it uses tokens. The exact count is known at the end. */
  readonly usesTokens: boolean
}

const TEXT = { category: 'llm', traced: 'chat', writesText: true, usesTokens: true } as const
const plain = (category: Category, traced: OperationTraits['traced']): OperationTraits => ({
  category,
  traced,
  writesText: false,
  usesTokens: false,
})

export const OPERATION_TRAITS: Readonly<Record<OperationName, OperationTraits>> = {
  chat: TEXT,
  messages: TEXT,
  responses: TEXT,
  completion: { ...TEXT, traced: 'text_completion' },
  embedding: { ...plain('embedding', 'embeddings'), usesTokens: true },
  rerank: plain('rerank', 'rerank'),
  moderation: plain('moderation', 'moderation'),
  image: plain('image', 'generate_content'),
  edit: plain('image', 'generate_content'),
  upscale: plain('upscale', 'generate_content'),
  bg_remove: plain('bg_remove', 'generate_content'),
  video: plain('video', 'generate_content'),
  music: plain('music', 'generate_content'),
  tts: plain('tts', 'generate_content'),
  stt: plain('stt', 'transcription'),
  translation: plain('stt', 'transcription'),
}

/** What a call needs of the limits, before its usage is known. */
export interface Demand {
  readonly category: Category
  readonly tokens: number
}

/** For an answer without a limit. */
const OUTPUT_TOKENS_GUESS = 1_024
const BYTES_PER_TOKEN = 4

export function demandOf(operation: OperationName, asked: AskedMembers, requestBytes: number): Demand {
  const { category, usesTokens, writesText } = OPERATION_TRAITS[operation]
  if (!usesTokens) return { category, tokens: 0 }
  const promptTokens = Math.ceil(requestBytes / BYTES_PER_TOKEN)
  if (!writesText) return { category, tokens: promptTokens }
  const perChoice = outputLimitOf(asked) ?? OUTPUT_TOKENS_GUESS
  return { category, tokens: promptTokens + perChoice * (asked.n ?? 1) }
}

/** Reads the limit under the name of any wire. */
export function outputLimitOf(asked: AskedMembers): number | null {
  return asked.max_completion_tokens ?? asked.max_tokens ?? asked.max_output_tokens ?? null
}

/** Returns what a finished call reports to the limits. */
export function usedUp({ usage, costNanoUsd, ofModel }: InferenceRecord): UsedUp {
  const tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens
  return { tokens, spentNanoUsd: costNanoUsd ?? 0n, ofModel }
}
