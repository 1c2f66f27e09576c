import type { TokenCounts } from '../../../src/modules/catalog/price/price.ts'

/** Work that a vendor bills beside its tokens, at the price of its own list. */
export interface Extra {
  readonly what: string
  readonly usd: number
}

interface MadePictures {
  readonly count: number
  readonly size: string
  readonly quality: string
  /** How many pictures were given to make each of them from. */
  readonly given: number
}

/** What a vendor bills for one call. */
export interface InvoiceLine {
  readonly caseNumber: number
  readonly vendor: string
  /** The vendor's name of the model that did the work. */
  readonly model: string
  readonly counts: TokenCounts
  /** The same without what the vendor did and did not send. */
  readonly seen: TokenCounts
  /** Pictures that were made, for models that are priced by the picture. */
  readonly pictures: MadePictures | null
  readonly extras: readonly Extra[]
  /** How many times the ordinary price the asked tier or speed costs. */
  readonly factor: number
  /** Whether the call ended as the vendor planned it, and its usage was sent. */
  readonly isWhole: boolean
}
