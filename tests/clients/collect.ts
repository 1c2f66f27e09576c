const ITEMS_MAX = 100_000

/** Collects all items of an iteration. Throws if there are more than `ITEMS_MAX`. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of items) {
    if (collected.length === ITEMS_MAX) throw new Error(`more than ${ITEMS_MAX} items came`)
    collected.push(item)
  }
  return collected
}
