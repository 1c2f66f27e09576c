/** An array in PostgreSQL's own text. The driver's quotes and copies every element, which these do not need. */
export function toArray<Item>(
  items: readonly Item[],
  read: (item: Item) => string | number | bigint,
): string {
  let text = '{'
  for (const item of items) text += (text.length > 1 ? ',' : '') + String(read(item))
  return text + '}'
}
