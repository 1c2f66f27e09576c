const ITEMS_MAX = 100_000

/** Everything an iteration yields, up to a bound. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of items) {
    if (collected.length === ITEMS_MAX) throw new Error(`more than ${ITEMS_MAX} items came`)
    collected.push(item)
  }
  return collected
}
