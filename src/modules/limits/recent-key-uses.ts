/** What one key did lately. */
export interface RecentKeyUse {
  readonly id: string
  readonly requests: number
  readonly tokens: number
}

const SLOT_MS = 5_000
const SLOTS = 12
/** More than operators have keys. */
const KEYS_MAX = 10_000

interface Slot {
  beganMs: number
  requests: number
  tokens: number
}

/** Counts the requests and tokens of each key in the last minute. */
export class RecentKeyUses {
  readonly #slots = new Map<string, Slot[]>()

  note(id: string, { requests, tokens }: Omit<RecentKeyUse, 'id'>): void {
    const beganMs = Math.floor(performance.now() / SLOT_MS) * SLOT_MS
    const slots = this.#slots.get(id) ?? []
    let slot = slots.at(-1)
    if (slot?.beganMs !== beganMs) {
      slot = { beganMs, requests: 0, tokens: 0 }
      slots.push(slot)
      if (slots.length > SLOTS) slots.shift()
    }
    slot.requests += requests
    slot.tokens += tokens
    this.#slots.set(id, slots)
    if (this.#slots.size > KEYS_MAX) this.#forgetOne()
  }

  list(): readonly RecentKeyUse[] {
    const sinceMs = performance.now() - SLOT_MS * SLOTS
    const uses: RecentKeyUse[] = []
    for (const [id, slots] of this.#slots) {
      const recent = slots.filter(({ beganMs }) => beganMs > sinceMs)
      if (recent.length === 0) this.#slots.delete(id)
      else
        uses.push({
          id,
          requests: recent.reduce((sum, slot) => sum + slot.requests, 0),
          tokens: recent.reduce((sum, slot) => sum + slot.tokens, 0),
        })
    }
    return uses
  }

  #forgetOne(): void {
    const [oldest] = this.#slots.keys()
    if (oldest !== undefined) this.#slots.delete(oldest)
  }
}
