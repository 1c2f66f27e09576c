import type { AiSdkProviderOptions } from './ai-sdk/lazy-provider.ts'
import type { MediaLoaders } from './ai-sdk/media/lazy-media-provider.ts'
import type { OpenAiCompatibleUpstream } from './openai-compatible/upstream.ts'
import type { Provider } from './provider.ts'

/** Everything that the gateway knows of a vendor, or of a kind of server that people host themselves. */
export interface VendorDescriptor {
  /** As routes of the catalog and the configuration name it. */
  readonly id: string
  readonly keys: VendorKeys
  /** As OpenTelemetry's conventions name it, where that is not its id. */
  readonly traceName?: string
  /** Has no `n`: each choice is a call of its own, and its prompt is billed again. */
  readonly lacksChoices?: true
  /** Its speech is told nothing but the text. */
  readonly lacksSpeechInstructions?: true
  /** Charges nothing for media work that is cancelled while it runs. All others bill what they have taken. */
  readonly refundsCancelled?: true
  /** What its models' caches of prompts cost where an entry of the catalog does not say. */
  readonly cachePrices?: CachePrices
  /** Where it speaks OpenAI's wire, and how it departs from it. */
  readonly wire?: Omit<OpenAiCompatibleUpstream, 'id'>
  /** What it does in a wire of its own. Where two offer the same, the earlier counts, and `wire` before both. */
  readonly adapters?: readonly ((options: AiSdkProviderOptions) => Provider)[]
  /** Images and videos in a wire of its own. */
  readonly media?: MediaLoaders
}

interface VendorKeys {
  /** `OPENAI` reads `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_WIRES`. */
  readonly prefix: string
  /** Where the vendor's own tools call the key otherwise: the first that is set counts. */
  readonly apiKey?: readonly string[]
  /** The other half of the key, where a vendor gives two. */
  readonly secretKey?: string
}

/** In hundredths of the price of plain input. */
export interface CachePrices {
  readonly read: bigint
  readonly write: bigint
  readonly hourWrite: bigint
}
