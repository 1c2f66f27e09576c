import type { KeyLimits } from '../../../providers/connection/key-limits.ts'
import type { NativeWire } from '../../../providers/native-wire.ts'
import type { GivenCost, OfferedVisibility } from '../models/offered-model.ts'
import type { TimeLimits } from '../provider-draft.ts'

type Members = Readonly<Record<string, unknown>>

/** What an operator wants to be offered. A part that is absent stays as it is. */
export interface WantedConfiguration {
  readonly providers?: readonly WantedProvider[] | undefined
  readonly models?: readonly WantedModel[] | undefined
  readonly prices?: readonly WantedPrice[] | undefined
}

export interface WantedProvider {
  readonly name: string
  /** Undefined: the vendor of this name. */
  readonly vendor: string | null | undefined
  readonly baseUrl: string | null
  readonly wires: readonly NativeWire[] | null
  readonly allowedMembers: readonly string[]
  /** Their values are secrets that no document has. */
  readonly headerNames: readonly string[]
  readonly timeouts: TimeLimits
  readonly proxy: WantedProxy | null
  readonly certificateAuthority: string | null
  readonly regions: readonly string[]
  readonly retentionDays: number | null
  readonly isEnabled: boolean
  readonly credentials: readonly WantedCredential[]
}

interface WantedProxy {
  readonly url: string
  readonly username: string | null
  /** Where it is read, or the one that is stored here. Null: none. */
  readonly password: { readonly reference: string } | 'stored' | null
}

interface WantedCredential {
  readonly weight: number
  readonly limits: KeyLimits
  /** Where the key is read, or the last four characters of one that is stored here. */
  readonly key: { readonly reference: string } | { readonly lastFour: string | null }
}

export interface WantedModel {
  readonly id: string
  readonly entry: Members
  /** The price of now. */
  readonly price: Members
  readonly visibility: OfferedVisibility | null
}

export interface WantedPrice {
  readonly model: string
  /** Absent: that of the catalog file. */
  readonly price?: Members | undefined
  /** What the routes cost, unless they themselves say it. Absent: what they cost by this list, or by the one before. */
  readonly costs?: readonly GivenCost[] | undefined
  /** Null: the price of now, of a model of the file. */
  readonly effectiveFromMs: number | null
}
