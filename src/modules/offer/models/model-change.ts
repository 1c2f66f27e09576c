import type { Queryable } from '../../../storage/database.ts'
import type { OfferedModel, OfferedPrice } from './offered-model.ts'

type Members = Readonly<Record<string, unknown>>

/** A change that is checked and not made yet. */
export interface ModelChange {
  /** What differs, for the audit log. */
  readonly difference: Members
  /** Writes the change, together with others. Returns the version of the offer. */
  write(transaction: Queryable): Promise<bigint>
  /** Makes the change. Returns the version of the offer when every process uses it. */
  make(): Promise<bigint>
}

/** What belongs to the same change of many parts. */
export interface AddedTogether {
  /** The state that the whole change begins with, which is read once. */
  readonly stored: {
    /** Those that are not removed, by id. */
    readonly models: ReadonlyMap<string, OfferedModel>
    /** By the ids of models, the latest first. */
    readonly prices: ReadonlyMap<string, readonly OfferedPrice[]>
  }
  /** Those that are added, and therefore not known yet. */
  readonly providers: ReadonlySet<string>
  /** The entries of models, by id. */
  readonly models: ReadonlyMap<string, Members>
}
