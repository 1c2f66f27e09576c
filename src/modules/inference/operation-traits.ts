import type { Category } from '../catalog/catalog.ts'
import type { UsedUp } from '../limits/limits.ts'
import type { AskedMembers, InferenceRecord, OperationName } from './inference-record.ts'

/** What limits and traces have to know of an operation. */
interface OperationTraits {
  /** The kind of its models, which the limits go by: the model itself is not known yet when they are checked. */
  readonly category: Category
  /** As OpenTelemetry's GenAI conventions name it; where they have no name, ours. */
  readonly traced:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'generate_content'
    | 'rerank'
    | 'moderation'
    | 'transcription'
  /** Whether the members of a chat mean something here: elsewhere they are only passed on, whatever they hold. */
  readonly writesText: boolean
  /** Whether it uses tokens; how many is put right at its end. */
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

/** What a call asks of the limits before it is known what it uses. */
export interface Demand {
  readonly category: Category
  readonly tokens: number
}

/** Of an answer whose length nobody limits. */
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

/** Whatever the wire calls it. */
export function outputLimitOf(asked: AskedMembers): number | null {
  return asked.max_completion_tokens ?? asked.max_tokens ?? asked.max_output_tokens ?? null
}

/** What the limits are told when a call is over. */
export function usedUp({ usage, costNanoUsd }: InferenceRecord): UsedUp {
  const tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens
  return { tokens, spentNanoUsd: costNanoUsd ?? 0n }
}
