/** A model that operators added while the gateway runs. */
export interface OfferedModel {
  readonly id: string
  /** As in the catalog file, without id and price. The catalog reads it. */
  readonly entry: Readonly<Record<string, unknown>>
  /** Null: everybody. */
  readonly visibility: OfferedVisibility | null
  /** The version of the offer in which it was last changed. */
  readonly version: bigint
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Set for models that were removed lately: work that began before is followed to its end. */
  readonly removedAtMs: number | null
}

/** An account sees the model if it is named, or if the project of the request is. */
export interface OfferedVisibility {
  readonly accountIds: readonly string[]
  readonly projectIds: readonly string[]
}

/** A price list of a model, from a moment on. */
export interface OfferedPrice {
  /** The version of the offer in which it was added. Bills name it. */
  readonly version: bigint
  readonly model: string
  readonly effectiveFromMs: number
  /** As it was given. */
  readonly price: Readonly<Record<string, unknown>>
  /** What is charged: exact integers. */
  readonly rates: unknown
  /** Whether the price of the catalog file is charged instead, from this moment on. */
  readonly isOfFile: boolean
  /** What routes of the model cost while the list is charged. Null: what the routes of the catalog file say. */
  readonly costs: readonly OfferedCost[] | null
  /** The key of the operator. Null if it is not known. */
  readonly authorKeyId: string | null
  readonly reason: string | null
  readonly createdAtMs: number
  /** When it was withdrawn before it had effect. */
  readonly withdrawnAtMs: number | null
}

/** What the vendor charges for a route, or for all routes of a provider. */
export interface GivenCost {
  readonly provider: string
  /** The provider's name of the model. Absent: all of its routes. */
  readonly model?: string | undefined
  /** As it was given, like a price. */
  readonly cost: Readonly<Record<string, unknown>>
}

export interface OfferedCost extends GivenCost {
  /** What is computed with: exact integers. */
  readonly rates: unknown
}
