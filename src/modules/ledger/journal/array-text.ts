/** An array as PostgreSQL text. The driver would quote and copy every element, which these values do not need. */
export function toArray<Item>(
  items: readonly Item[],
  read: (item: Item) => string | number | bigint,
): string {
  let text = '{'
  for (const item of items) text += (text.length > 1 ? ',' : '') + String(read(item))
  return text + '}'
}
