import type { GivenCost, OfferedCost } from './offered-model.ts'

type Members = Readonly<Record<string, unknown>>
type Entry = Members & { readonly id: string }

/** What the catalog knows of models. */
export interface ModelRules {
  /** Throws `invalid_value` unless this is an entry of the catalog with a price. */
  check(
    entry: Entry,
    also?: { readonly providers?: ReadonlySet<string> | undefined; readonly costs?: readonly GivenCost[] },
  ): {
    readonly aliases: readonly string[]
    readonly rates: unknown
    /** The given ones, with what is computed with. */
    readonly costs: readonly OfferedCost[]
  }
  /** Whether the catalog file has a model with this id or alias. */
  isOfFile(name: string): boolean
  /** The entry of a model of the file, if there is one with this id. */
  fileEntryOf(id: string): Entry | null
}
