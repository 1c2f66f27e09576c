import type { NanoUsd } from '../../kernel/money.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'

/** The seven listed categories of the specification, then the services that resolve on their own routes. */
export const LISTED_CATEGORIES = ['llm', 'image', 'video', 'stt', 'tts', 'embedding', 'music'] as const
export const SERVICE_CATEGORIES = ['rerank', 'moderation', 'upscale', 'bg_remove'] as const
export const CATEGORIES = [...LISTED_CATEGORIES, ...SERVICE_CATEGORIES] as const
export type Category = (typeof CATEGORIES)[number]

/** Each category fixes the endpoint that serves it. */
export const ENDPOINT_OF_CATEGORY: Readonly<Record<Category, string>> = {
  llm: '/v1/chat/completions',
  image: '/v1/images/generations',
  video: '/v1/videos/generations',
  stt: '/v1/audio/transcriptions',
  tts: '/v1/audio/speech',
  embedding: '/v1/embeddings',
  music: '/v1/audio/music',
  rerank: '/v1/rerank',
  moderation: '/v1/moderations',
  upscale: '/v1/images/upscale',
  bg_remove: '/v1/images/bg-remove',
}

/** The tags of the specification; no model carries another. */
export const CAPABILITIES = [
  'chat',
  'tool_use',
  'vision',
  'reasoning',
  'video',
  'code',
  'image_generation',
  'image_edit',
  'image_to_video',
  'text_to_video',
  'video_generation',
  'stt',
  'turkish',
  'tts',
  'text_to_speech',
  'voice_clone',
  'multilingual',
  'embedding',
  'embeddings',
  'music_generation',
] as const
type Capability = (typeof CAPABILITIES)[number]

export const PRICE_UNITS = ['token', 'image', 'second', 'character', 'search', 'request'] as const
type PriceUnit = (typeof PRICE_UNITS)[number]

export interface CatalogModel {
  /** What a client sends as `model`. */
  readonly id: string
  readonly displayName: string
  readonly vendor: string
  readonly category: Category
  /** Null where a context does not apply. */
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  /** The length of an embedding. */
  readonly dimensions: number | null
  readonly capabilities: ReadonlySet<Capability>
  readonly price: ModelPrice
  /** False shows `See pricing` although the amounts are known. */
  readonly isPriceListed: boolean
  /** In the order they are tried: by priority, then as written. */
  readonly routes: readonly ModelRoute[]
  readonly aliases: readonly string[]
  /** Whether an answer comes at once or as a task. */
  readonly delivery: 'sync' | 'async'
  /** What may be asked of a model of images, video, music or embeddings. */
  readonly bounds: ModelBounds
  /** False for service models, which appear only when their category is asked for. */
  readonly isListed: boolean
  /** When the vendor released it. */
  readonly createdAt: Date
  /** Of whom it is: everybody's, unless it is one account's own. */
  readonly source?: 'dedicated'
}

export interface ModelRoute {
  readonly provider: string
  /** The upstream's own name of the model. */
  readonly model: string
  /** Lower is tried first; routes of equal priority share the load by weight. */
  readonly priority: number
  readonly weight: number
  readonly timeouts: Partial<UpstreamTimeouts>
}

export type ModelPrice = TokenPrice | UnitPrice

/** Nano-dollars for a million tokens, so that a price below a nano-dollar a token loses nothing. */
export interface TokenRates {
  readonly inputNanoUsdPer1m: NanoUsd
  /** Equal to the input where the vendor publishes no other. */
  readonly cachedInputNanoUsdPer1m: NanoUsd
  /** Of input that the vendor writes to its cache for some minutes; the input price where there is no other. */
  readonly cacheWriteNanoUsdPer1m?: NanoUsd
  /** Of input that is written to be kept for an hour; the price of any other write where there is no other. */
  readonly cacheWriteHourNanoUsdPer1m?: NanoUsd
  readonly outputNanoUsdPer1m: NanoUsd
}

export interface TokenPrice extends TokenRates {
  readonly unit: 'token'
  /** Of sound in a prompt; absent where no price is known. Never below the input. */
  readonly audioInputNanoUsdPer1m?: NanoUsd
  /** Of sound in an answer; absent where no price is known. Never below the output. */
  readonly audioOutputNanoUsdPer1m?: NanoUsd
  /** Dearer rates for long prompts, shortest first. */
  readonly longContext: readonly LongContextRates[]
}

/** Applies to the whole request once its prompt is longer than `aboveTokens`. */
interface LongContextRates extends TokenRates {
  readonly aboveTokens: number
}

export interface UnitPrice {
  readonly unit: Exclude<PriceUnit, 'token'>
  readonly nanoUsdPerUnit: NanoUsd
  readonly multipliers?: PriceMultipliers
}

export const PRICE_TRAITS = ['size', 'quality', 'resolution', 'audio', 'duration'] as const
export type PriceTrait = (typeof PRICE_TRAITS)[number]

/** How often the price counts for a value of a trait (`quality`, `high`), in millionths; once where nothing is said. */
export type PriceMultipliers = Readonly<Partial<Record<PriceTrait, ReadonlyMap<string, bigint>>>>

/** Null is not bounded by the model, only by the API. */
export interface ModelBounds {
  /** Images a request. */
  readonly imagesMax: number | null
  readonly sizes: readonly string[] | null
  /** As `qualityDefault`, for new images. */
  readonly sizeDefault: string | null
  readonly qualities: readonly string[] | null
  /** Asked of the upstream for requests that name none; null leaves it to the upstream. */
  readonly qualityDefault: string | null
  readonly aspectRatios: readonly string[] | null
  readonly resolutions: readonly string[] | null
  /** As `qualityDefault`. */
  readonly resolutionDefault: string | null
  /** In whole seconds. */
  readonly durations: DurationBounds | null
  /** Lengths of an embedding that may be asked for, where it is not any up to the model's own. */
  readonly dimensions: readonly number[] | null
}

export interface DurationBounds {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** The only ones within those two; null allows all. */
  readonly allowedSeconds: readonly number[] | null
  /** For requests that name none. */
  readonly defaultSeconds: number
}
