/** Marks that combine with the character before them, and characters without a shape. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\u200b]+$/u
/** East Asian characters and emoji take two columns. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
// oxlint-disable-next-line no-control-regex -- the usual case, which needs no table
const NARROW = /^[\u0020-\u007e]*$/

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Returns how many columns a text of one line takes on a terminal. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

/** Returns as much of the beginning of a text as fits. */
export function cutToWidth(text: string, columns: number): string {
  if (NARROW.test(text)) return text.slice(0, columns)
  let width = 0
  let end = 0
  for (const { segment, index } of graphemes.segment(text)) {
    width += widthOfGrapheme(segment)
    if (width > columns) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

function widthOfGrapheme(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0
  // U+FE0F asks for the picture of a character that also exists as text.
  return WIDE.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1
}
