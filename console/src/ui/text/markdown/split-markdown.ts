const FENCE = /^ {0,3}(`{3,}|~{3,})/
const LIST_ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]/
/** A longer list is split between its items, so that little has to be parsed again. */
const LIST_LENGTH_MAX = 8_000

/**
 * Splits a text into sections that are parsed alone, at empty lines that end a paragraph, a list or a block of code. While a text
 * grows only its last section changes.
 */
export function splitMarkdown(text: string): string[] {
  const sections: string[] = []
  let start = 0
  let fence: string | null = null
  let isList = false
  let isAfterBlank = false
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length : end + 1
    const line = text.slice(at, Math.min(next, at + LINE_LOOK_MAX))
    const mark = FENCE.exec(line)?.[1]
    if (
      fence === null &&
      isAfterBlank &&
      at > start &&
      !continues(line, isList && at - start < LIST_LENGTH_MAX)
    ) {
      sections.push(text.slice(start, at))
      start = at
    }
    if (at === start) isList = LIST_ITEM.test(line)
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null
    } else if (mark !== undefined) fence = mark
    isAfterBlank = fence === null && line.trim() === '' && next - at <= LINE_LOOK_MAX
    at = next
  }
  if (start < text.length) sections.push(text.slice(start))
  return sections
}

/** The beginning of a line says what it is. */
const LINE_LOOK_MAX = 200

/** Whether a line after an empty one may belong to what is before it: further empty lines, indented ones, and items of a list. */
function continues(line: string, isList: boolean): boolean {
  return line.trim() === '' || /^[ \t]/.test(line) || (isList && LIST_ITEM.test(line))
}
