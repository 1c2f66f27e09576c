import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

import type { InferenceCall } from '../provider.ts'

/** What differs between the vendors that are reached through an AI SDK package. */
export interface Vendor {
  /** The id of the provider, and the key of the vendor in the package's options and metadata. */
  readonly key: 'anthropic' | 'google'
  readonly defaultBaseUrl: string
  createModel(settings: ModelSettings): Promise<LanguageModelV4>
  /** Media types the vendor takes under another name. */
  normalizeMediaType(mediaType: string): string
  /** Tool call ids of other vendors, in the alphabet this one takes. */
  normalizeCallId(callId: string): string
  /** Whether JSON mode without a schema must be asked for in words. */
  needsJsonInstruction(call: InferenceCall): boolean
  /** Drops what the vendor would refuse. */
  selectStopSequences(stopSequences: readonly string[]): string[]
  /** The vendor's own options, and corrections to the common ones. */
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
