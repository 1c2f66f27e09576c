/** Returns the known name with the smallest edit distance, or null if all are too different. */
export function nearestName(name: string, known: readonly string[]): string | null {
  let nearest: string | null = null
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    // Names with the same words in another order count as similar.
    const distance = Math.min(
      editDistance(name, candidate),
      1 + editDistance(sortWords(name), sortWords(candidate)),
    )
    if (distance >= fewest) continue
    fewest = distance
    nearest = candidate
  }
  return nearest
}

function sortWords(name: string): string {
  return name
    .split(/[_ -]/)
    .toSorted((one, other) => (one < other ? -1 : 1))
    .join('_')
}

/** Returns the number of insertions, deletions and substitutions. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const [above = 0, before = 0] = [previous[column], current[column - 1]]
      const diagonal = previous[column - 1] ?? 0
      current.push(Math.min(above + 1, before + 1, diagonal + (from[row - 1] === to[column - 1] ? 0 : 1)))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
