/** Waiting items of several owners, who take turns: an owner with a thousand items delays another one by a single item. */
export class FairQueue<Item> {
  readonly #itemsOf = new Map<string, Item[]>()
  readonly #ownerItemsMax: number

  constructor({ ownerItemsMax }: { readonly ownerItemsMax: number }) {
    this.#ownerItemsMax = ownerItemsMax
  }

  /** False when this owner has too many items waiting already. */
  add(owner: string, item: Item): boolean {
    const items = this.#itemsOf.get(owner)
    if (items === undefined) this.#itemsOf.set(owner, [item])
    else if (items.length >= this.#ownerItemsMax) return false
    else items.push(item)
    return true
  }

  /** The oldest item of the owner whose turn it is. */
  take(): Item | undefined {
    const [next] = this.#itemsOf
    if (next === undefined) return undefined
    const [owner, items] = next
    const item = items.shift()
    // Who had a turn goes to the end of the line.
    this.#itemsOf.delete(owner)
    if (items.length > 0) this.#itemsOf.set(owner, items)
    return item
  }
}
