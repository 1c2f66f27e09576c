import { BoundedMap } from '../../../kernel/bounded-map.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Reader } from '../../keys/keys.ts'
import { floorHour } from '../usage-range.ts'
import type { WeekdayComparison } from './read-comparison.ts'

/** Whole hours are compared, so only charges that are posted late change a comparison within its hour. */
const KEPT_MS = 60_000
const READERS_MAX = 1_000

interface Known {
  readonly hourMs: number
  readonly readAtMs: number
  readonly comparison: Promise<WeekdayComparison>
}

/** Comparisons with weekdays before read months of sums, so each reader has one a minute, however often and at once it asks. */
export class KnownComparisons {
  readonly #clock: Clock
  readonly #read: (reader: Reader) => Promise<WeekdayComparison>
  readonly #known = new BoundedMap<string, Known>({ entriesMax: READERS_MAX })

  constructor(clock: Clock, read: (reader: Reader) => Promise<WeekdayComparison>) {
    this.#clock = clock
    this.#read = read
  }

  compare(reader: Reader): Promise<WeekdayComparison> {
    const name = [reader.accountId, reader.projectId, reader.ownKeyId].join(' ')
    const nowMs = this.#clock.nowMs()
    const known = this.#known.get(name)
    if (known !== undefined && known.hourMs === floorHour(nowMs) && nowMs - known.readAtMs < KEPT_MS)
      return known.comparison
    const comparison = this.#read(reader)
    const made = { hourMs: floorHour(nowMs), readAtMs: nowMs, comparison }
    this.#known.set(name, made)
    // A failure is not kept.
    comparison.catch(() => {
      if (this.#known.get(name) === made) this.#known.delete(name)
    })
    return comparison
  }
}
