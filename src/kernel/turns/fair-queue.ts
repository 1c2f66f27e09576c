/** A queue in which owners take turns, so that an owner with a thousand items delays another owner by only one item. */
export class FairQueue<Item> {
  readonly #itemsOf = new Map<string, Item[]>()
  readonly #ownerItemsMax: number

  constructor({ ownerItemsMax }: { readonly ownerItemsMax: number }) {
    this.#ownerItemsMax = ownerItemsMax
  }

  /** Returns false if this owner has too many waiting items. */
  add(owner: string, item: Item): boolean {
    const items = this.#itemsOf.get(owner)
    if (items === undefined) this.#itemsOf.set(owner, [item])
    else if (items.length >= this.#ownerItemsMax) return false
    else items.push(item)
    return true
  }

  /** Returns the oldest item of the owner whose turn it is. */
  take(): Item | undefined {
    const [next] = this.#itemsOf
    if (next === undefined) return undefined
    const [owner, items] = next
    const item = items.shift()
    // Move the owner to the end of the order.
    this.#itemsOf.delete(owner)
    if (items.length > 0) this.#itemsOf.set(owner, items)
    return item
  }
}
