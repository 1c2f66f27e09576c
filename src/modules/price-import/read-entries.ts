import { isRecord } from '../../kernel/is-record.ts'
import { ImplausibleEntry, type UnusedEntry } from './price-list.ts'

/** Names of models and providers: what is longer or has other characters is none. */
const KEY = /^[\w][\w.:/@+ -]{0,199}$/

/** Calls `read` for each member, and collects what it refuses. */
export function readEntries<Entry>(
  members: Readonly<Record<string, unknown>>,
  duplicates: ReadonlySet<string>,
  read: (key: string, entry: Readonly<Record<string, unknown>>) => Entry | null,
): { readonly entries: readonly Entry[]; readonly problems: readonly UnusedEntry[] } {
  const entries: Entry[] = []
  const problems: UnusedEntry[] = []
  for (const [key, value] of Object.entries(members)) {
    try {
      if (!KEY.test(key)) throw new ImplausibleEntry('this is not the name of a model')
      if (!isRecord(value)) throw new ImplausibleEntry('the entry is not an object')
      if (duplicates.has(key)) throw new ImplausibleEntry('the list has this name more than once')
      const entry = read(key, value)
      if (entry !== null) entries.push(entry)
    } catch (error) {
      if (!(error instanceof ImplausibleEntry)) throw error
      problems.push({ key: toShown(key), reason: error.message })
    }
  }
  return { entries, problems }
}

/** The text is shown to operators, and may be anything. */
function toShown(key: string): string {
  return key.slice(0, 200).toWellFormed()
}

/** Returns a count of tokens, or null if the entry has none. */
export function countOf(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null
  // Some entries have counts as texts of digits.
  const count = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > 1_000_000_000)
    throw new ImplausibleEntry(`${field} is not a count`)
  return count === 0 ? null : count
}

export function dayOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  return Number.isNaN(Date.parse(value)) ? null : value
}
