/**
 * Returns whether the text is only base64, of the usual or the URL-safe alphabet. A pattern for the whole text may need memory
 * for each of its characters, and fails on a long one; a search for a character that does not belong needs none.
 */
export function isBase64(text: string): boolean {
  const end = text.search(FOREIGN)
  return end === -1 ? text !== '' : end > 0 && PADDING.test(text.slice(end, end + 3))
}

const FOREIGN = /[^A-Za-z0-9+/_-]/
const PADDING = /^={1,2}$/
