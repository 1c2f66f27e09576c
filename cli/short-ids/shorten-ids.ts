const DIGITS_MIN = 8
const PREFIX = /^[a-z_]+[_-]/

/** Shortens ids to beginnings of one length that differ from each other, for a screen. */
export function shortenIds(ids: readonly string[]): string[] {
  const lengthMin = Math.max(0, ...ids.map((id) => (PREFIX.exec(id)?.[0].length ?? 0) + DIGITS_MIN))
  const lengthMax = Math.max(0, ...ids.map((id) => id.length))
  const count = new Set(ids).size
  let length = lengthMin
  while (length < lengthMax && new Set(ids.map((id) => id.slice(0, length))).size < count) length += 1
  return ids.map((id) => id.slice(0, length).replace(/-$/, ''))
}
