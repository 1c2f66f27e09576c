import { floorDay } from '../usage-range.ts'

/** As many tags of an account have sums of their own in a day (modules/ledger/books/sum-by-label.ts). */
const LABELS_PER_ACCOUNT_MAX = 1_000
/** Of all accounts. Clients choose tags, and this process remembers which of them it has seen today. */
const LABELS_MAX = 100_000
/** Stands for all tags beyond the limits. */
const OTHER_LABEL = 'tag:~other'

const TAG = 'tag:'

/** Limits how many different tags are counted apart. */
export class BoundedLabels {
  #dayMs = 0
  #count = 0
  #known = new Map<string, Set<string>>()

  /** Returns the labels under which a request is counted: its tags, each once. */
  bound(accountId: string, labels: readonly string[] | null | undefined, atMs: number): Set<string> {
    const bounded = new Set<string>()
    for (const label of labels ?? [])
      if (label.startsWith(TAG)) bounded.add(this.#isKept(accountId, label, atMs) ? label : OTHER_LABEL)
    return bounded
  }

  #isKept(accountId: string, label: string, atMs: number): boolean {
    const dayMs = floorDay(atMs)
    if (dayMs > this.#dayMs) {
      this.#dayMs = dayMs
      this.#count = 0
      this.#known = new Map()
    }
    const known = this.#known.get(accountId)
    if (known?.has(label) === true) return true
    if (this.#count >= LABELS_MAX || (known?.size ?? 0) >= LABELS_PER_ACCOUNT_MAX) return false
    this.#count += 1
    if (known === undefined) this.#known.set(accountId, new Set([label]))
    else known.add(label)
    return true
  }
}
