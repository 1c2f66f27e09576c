import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

import type { InferenceCall } from '../provider.ts'

/** The differences between the chat vendors that are called through an AI SDK package. */
export interface Vendor {
  /** The provider id unless it has a `name`, and the vendor's key in the package's options and metadata. */
  readonly key: 'anthropic' | 'google' | 'bedrock'
  /** The provider in errors, if it is not the key. */
  readonly name?: string
  readonly defaultBaseUrl: string
  createModel(settings: ModelSettings): Promise<LanguageModelV4>
  /** Returns the vendor's name for a media type. */
  normalizeMediaType(mediaType: string): string
  /** Replaces characters of other vendors' tool call ids that this vendor refuses. */
  normalizeCallId(callId: string): string
  /** Whether JSON mode without a schema must be requested in the prompt. */
  needsJsonInstruction(call: InferenceCall): boolean
  /** Drops sequences that the vendor would refuse. */
  selectStopSequences(stopSequences: readonly string[]): string[]
  /** Adds the vendor's own options, and corrects the common ones. */
  refineOptions(options: LanguageModelV4CallOptions, context: RefineContext): LanguageModelV4CallOptions
}

interface ModelSettings {
  readonly modelId: string
  readonly apiKey: string
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
}

export interface RefineContext {
  readonly call: InferenceCall
  readonly reasoning: ReasoningLevel | undefined
}

export type ReasoningLevel = Exclude<LanguageModelV4CallOptions['reasoning'], 'provider-default' | undefined>

export function withVendorOptions(
  options: LanguageModelV4CallOptions,
  vendorOptions: SharedV4ProviderOptions,
): LanguageModelV4CallOptions {
  const isEmpty = Object.values(vendorOptions).every((values) => Object.keys(values).length === 0)
  return isEmpty ? options : { ...options, providerOptions: vendorOptions }
}
