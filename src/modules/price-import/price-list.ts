/** A price as catalog files write it, in dollars. */
export interface ListedTokenPrice {
  readonly unit: 'token'
  readonly input_usd_per_1m: number
  readonly cached_input_usd_per_1m?: number
  readonly cache_write_usd_per_1m?: number
  readonly cache_write_1h_usd_per_1m?: number
  readonly output_usd_per_1m: number
  readonly audio_input_usd_per_1m?: number
  readonly audio_output_usd_per_1m?: number
  readonly long_context?: readonly ListedStep[]
}

/** The prices of longer prompts. */
export interface ListedStep {
  readonly above_tokens: number
  readonly input_usd_per_1m: number
  readonly cached_input_usd_per_1m?: number
  readonly cache_write_usd_per_1m?: number
  readonly output_usd_per_1m: number
}

interface ListedUnitPrice {
  readonly unit: 'image' | 'second' | 'character' | 'search'
  readonly usd: number
}

export type ListedPrice = ListedTokenPrice | ListedUnitPrice

/** What a public price list says of one model at one provider. */
export interface ListedModel {
  /** How the list names it. */
  readonly key: string
  /** Our id of the provider. */
  readonly provider: string
  /** The name at the provider. */
  readonly model: string
  readonly price: ListedPrice
  readonly category: 'llm' | 'embedding' | 'rerank' | 'image' | 'stt' | 'tts'
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  readonly capabilities: readonly ('tool_use' | 'vision' | 'reasoning')[]
  /** The day on which the provider ends it, if the list says so. */
  readonly endsOn: string | null
}

/** An entry that is not used, and why. */
export interface UnusedEntry {
  readonly key: string
  readonly reason: string
}

export interface PriceList {
  readonly models: readonly ListedModel[]
  /** Entries that cannot be believed. */
  readonly problems: readonly UnusedEntry[]
  /** How many entries are of providers that the gateway does not know. */
  readonly otherProviders: number
}

/** The entry cannot be believed. The message says why, for operators. */
export class ImplausibleEntry extends Error {
  override readonly name = 'ImplausibleEntry'
}
