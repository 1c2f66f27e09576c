import type { VendorBatches } from './batch/create-batch-api.ts'
import type { AiSdkProviderOptions } from './ai-sdk/lazy-provider.ts'
import type { MediaLoaders } from './ai-sdk/media/lazy-media-provider.ts'
import type { OpenAiCompatibleUpstream } from './openai-compatible/upstream.ts'
import type { ModelPage } from './model-page.ts'
import type { Provider } from './provider.ts'
import type { SignInKind } from './sign-in/sign-in.ts'
import type { VendorAccount } from './vendor-account/vendor-account.ts'

/** Everything that the gateway knows about a vendor or a type of self-hosted server. */
export interface VendorDescriptor {
  /** The name used in catalog routes and in the configuration. */
  readonly id: string
  readonly keys: VendorKeys
  /** The name in OpenTelemetry's conventions, if it differs from the id. */
  readonly traceName?: string
  /** How its customers sign in, if a key in a header is not the only way. */
  readonly signIn?: SignInKind
  /** The form of its address, if it has no `wire` and each customer has an address: parts in braces are the customer's. */
  readonly addressForm?: string
  /** The vendor does not support `n`. Each choice is a separate call, which bills the prompt again. */
  readonly lacksChoices?: true
  /** Its speech models accept no instructions. */
  readonly lacksSpeechInstructions?: true
  /** The vendor does not charge for media work that is cancelled while it runs. All others bill accepted work. */
  readonly refundsCancelled?: true
  /** Prices of prompt caching for catalog entries that do not specify them. */
  readonly cachePrices?: CachePrices
  /** The models that have them, by the names that routes have. Absent: all of its models. */
  readonly hasCachePrices?: (upstreamModel: string) => boolean
  /** The vendor's endpoint for OpenAI's wire, and how it differs from that wire. */
  readonly wire?: Omit<OpenAiCompatibleUpstream, 'id'>
  /** Its batch API, if it has one that can be followed over restarts. */
  readonly batches?: VendorBatches
  /** How what it bills, and what is left to spend, are read. */
  readonly account?: VendorAccount
  /** How the vendor lists the models of a key, if not in OpenAI's wire at its own address. */
  readonly modelList?: ModelListWire
  /** The same for vendors with a `signIn`: the first pages of its lists, for an address that the operator configured. */
  readonly modelPages?: (baseUrl: string) => readonly ModelPage[]
  /** Why a key cannot list the names that routes need. */
  readonly lacksModelList?: string
  /** Operations in the vendor's own wire. If two adapters offer the same operation, the earlier is used. `wire` precedes both. */
  readonly adapters?: readonly ((options: AiSdkProviderOptions) => Provider)[]
  /** Images and videos in the vendor's own wire. */
  readonly media?: MediaLoaders
}

export interface ModelListWire {
  readonly baseUrl: string
  readonly keyHeader: 'x-api-key' | 'x-goog-api-key' | 'authorization'
  readonly headers?: readonly string[]
  /** With as many models on one page as the vendor allows. */
  readonly path: string
}

interface VendorKeys {
  /** `OPENAI` reads `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_WIRES`. */
  readonly prefix: string
  /** Names used by the vendor's own tools, if they differ. The first that is set is used. */
  readonly apiKey?: readonly string[]
  /** The second part of the key, if the vendor issues two. */
  readonly secretKey?: string
}

/** In hundredths of the price of uncached input. */
export interface CachePrices {
  readonly read: bigint
  readonly write: bigint
  readonly hourWrite: bigint
}
