/**
 * Returns the lines added between two reads of the end of the same log. The later read has at least as many lines as the earlier
 * one, unless the log was restarted.
 */
export function findNewLines(before: readonly string[], after: readonly string[]): readonly string[] {
  return after.slice(countOverlap(before, after))
}

/**
 * Returns the length of the longest suffix of `before` that is a prefix of `after`. Linear (Knuth-Morris-Pratt), because engines
 * repeat the same lines many times.
 */
function countOverlap(before: readonly string[], after: readonly string[]): number {
  const borders = findBorders(after)
  let matched = 0
  for (const line of before) {
    while (matched > 0 && (matched === after.length || after[matched] !== line))
      matched = borders[matched - 1] ?? 0
    if (after[matched] === line) matched += 1
  }
  return matched
}

/** Returns for each prefix of the list the length of its longest proper suffix that is also a prefix. */
function findBorders(lines: readonly string[]): number[] {
  const borders = [0]
  let matched = 0
  for (let index = 1; index < lines.length; index += 1) {
    while (matched > 0 && lines[matched] !== lines[index]) matched = borders[matched - 1] ?? 0
    if (lines[matched] === lines[index]) matched += 1
    borders.push(matched)
  }
  return borders
}
