/**
 * What was added to a log, of which only the last lines are known before and after. Both are of the same log and the later list is at
 * least as long as the earlier one, unless the log began anew.
 */
export function findNewLines(before: readonly string[], after: readonly string[]): readonly string[] {
  return after.slice(countOverlap(before, after))
}

/** The longest end of one list that is the beginning of the other, in linear time: engines say the same again and again. */
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

/** For each beginning of the list: how long its longest end is that is also its beginning. */
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
