import type { NanoUsd } from '../../kernel/money.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'

/** The seven categories that the specification lists, then the services that have their own routes. */
export const LISTED_CATEGORIES = ['llm', 'image', 'video', 'stt', 'tts', 'embedding', 'music'] as const
export const SERVICE_CATEGORIES = ['rerank', 'moderation', 'upscale', 'bg_remove'] as const
export const CATEGORIES = [...LISTED_CATEGORIES, ...SERVICE_CATEGORIES] as const
export type Category = (typeof CATEGORIES)[number]

/** The endpoint that serves each category. */
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

/** The capability tags of the specification. Models use no others. */
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
  /** The value that a client sends as `model`. */
  readonly id: string
  readonly displayName: string
  readonly vendor: string
  readonly category: Category
  /** Null for models without a context. */
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  /** The length of an embedding vector. */
  readonly dimensions: number | null
  readonly capabilities: ReadonlySet<Capability>
  readonly price: ModelPrice
  /** The operator's file, if the price comes from there. */
  readonly priceFile?: string
  /** False shows `See pricing` although the amounts are known. */
  readonly isPriceListed: boolean
  /** In the order in which they are tried: by priority, then by position in the file. */
  readonly routes: readonly ModelRoute[]
  readonly aliases: readonly string[]
  /** The id of the model that answers, at its own price, if no configured provider sells this one. */
  readonly successor?: string
  /** The day on which the vendor ends the model. From then on the successor answers. */
  readonly retiresAt?: Date
  /** Its moments, if it has any beside that day. */
  readonly lifeCycle?: LifeCycle
  /** Whether the result is in the response or in a task. */
  readonly delivery: 'sync' | 'async'
  /** The allowed parameters of image, video, music and embedding models. */
  readonly bounds: ModelBounds
  /** False for service models, which are listed only if their category is requested. */
  readonly isListed: boolean
  /** The vendor's release date. */
  readonly createdAt: Date
  /** Set if the model belongs to one account. Absent for the models of all accounts. */
  readonly source?: 'dedicated'
  /** Names the price list in bills. Absent if the price comes from elsewhere, as that of a deployment does. */
  readonly priceVersion?: string
  /** Who can see and use it. Absent: everybody. */
  readonly visibility?: ModelVisibility
  /** Set if operators added it while the gateway runs. */
  readonly isOffered?: true
}

/** When a model comes and goes. Absent for a model that is simply there. */
export interface LifeCycle {
  /** Since the epoch, as all of these. */
  readonly availableFromMs: number | null
  readonly deprecatedFromMs: number | null
  readonly shutdownMs: number | null
  /** Whether the successor answers after the end. Otherwise the model is not found any more. */
  readonly isSucceeded: boolean
  /** What answers of the model say from its deprecation on: alternating names and values. */
  readonly headers: readonly string[]
}

/** A model is visible to these accounts, and to these projects of any account. */
interface ModelVisibility {
  readonly accountIds: ReadonlySet<string>
  readonly projectIds: ReadonlySet<string>
}

export interface ModelRoute {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Lower values are tried first. Routes with equal priority share the load by weight. */
  readonly priority: number
  readonly weight: number
  readonly timeouts: Partial<UpstreamTimeouts>
  /** What the provider charges. Absent: unknown. Only for operators. */
  readonly cost?: RouteCost
}

export interface RouteCost {
  /** Counts the same units as the price. */
  readonly price: ModelPrice
  /** Names it in usage records. */
  readonly version: string
}

export type ModelPrice = TokenPrice | UnitPrice

/** Nano-dollars per million tokens, so that prices below a nano-dollar per token stay exact. */
export interface TokenRates {
  readonly inputNanoUsdPer1m: NanoUsd
  /** Equals the input price if the vendor publishes none. */
  readonly cachedInputNanoUsdPer1m: NanoUsd
  /** The price of input that the vendor caches for some minutes. The input price applies if absent. */
  readonly cacheWriteNanoUsdPer1m?: NanoUsd
  /** The price of input that is cached for an hour. The price of other cache writes applies if absent. */
  readonly cacheWriteHourNanoUsdPer1m?: NanoUsd
  readonly outputNanoUsdPer1m: NanoUsd
}

/** What lines of batches cost, in millionths of the price. */
interface BatchFactors {
  /** For lines that were handed to the batch API of a vendor. Absent: what the vendor gives. */
  readonly batchMillionths?: bigint
  /** For lines that are asked one by one. Absent: the whole price. */
  readonly batchSingleMillionths?: bigint
}

export interface TokenPrice extends TokenRates, BatchFactors {
  readonly unit: 'token'
  /** The price of audio in a prompt. Absent if unknown. Never below the input price. */
  readonly audioInputNanoUsdPer1m?: NanoUsd
  /** The price of audio in an answer. Absent if unknown. Never below the output price. */
  readonly audioOutputNanoUsdPer1m?: NanoUsd
  /** Higher rates for long prompts, shortest first. */
  readonly longContext: readonly LongContextRates[]
}

/** Applies to the whole request if its prompt is longer than `aboveTokens`. */
interface LongContextRates extends TokenRates {
  readonly aboveTokens: number
}

export interface UnitPrice extends BatchFactors {
  readonly unit: Exclude<PriceUnit, 'token'>
  readonly nanoUsdPerUnit: NanoUsd
  /** The price of one input image, for each output that is made of it. Zero if absent. */
  readonly nanoUsdPerInputImage?: NanoUsd
  readonly multipliers?: PriceMultipliers
}

export const PRICE_TRAITS = ['size', 'quality', 'resolution', 'audio', 'duration'] as const
export type PriceTrait = (typeof PRICE_TRAITS)[number]

/**
 * The price multiplier for each value of a trait (such as `quality`: `high`), in millionths. Other values have the multiplier 1.
 */
export type PriceMultipliers = Readonly<Partial<Record<PriceTrait, ReadonlyMap<string, bigint>>>>

export const RESPONSE_FORMATS = ['url', 'b64_json'] as const
type ResponseFormat = (typeof RESPONSE_FORMATS)[number]

/** Null means that the model sets no limit; the limits of the API still apply. */
export interface ModelBounds {
  /** Images per request. */
  readonly imagesMax: number | null
  readonly sizes: readonly string[] | null
  /** Like `qualityDefault`, for new images. */
  readonly sizeDefault: string | null
  readonly qualities: readonly string[] | null
  /** Sent upstream if a request names none. Null leaves the choice to the upstream. */
  readonly qualityDefault: string | null
  readonly aspectRatios: readonly string[] | null
  readonly resolutions: readonly string[] | null
  /** Like `qualityDefault`. */
  readonly resolutionDefault: string | null
  /** How the images of an answer are sent if a request does not say. */
  readonly responseFormatDefault: ResponseFormat
  /** In whole seconds. */
  readonly durations: DurationBounds | null
  /** The embedding lengths that a client may request. Null allows any length up to the model's own. */
  readonly dimensions: readonly number[] | null
}

export interface DurationBounds {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** The only allowed values between minimum and maximum. Null allows all. */
  readonly allowedSeconds: readonly number[] | null
  /** For requests that name none. */
  readonly defaultSeconds: number
}
