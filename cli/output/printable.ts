/**
 * Control characters other than tab and line feed, which could move the cursor, set the title or answer for the user, and those that
 * change the direction of the text after them, so that it reads as something else.
 */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Makes text from outside safe to print on a terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, '')
}

/** Makes text from outside safe to print within a line: it begins no line of its own, and fakes no column by its spaces. */
export function printableInLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ')
}

/**
 * Bold, dim and colours, with their ends: what our own output is styled with, and what does no harm in foreign text. Black and white
 * are not among them: on a screen of that colour they hide text.
 */
// oxlint-disable-next-line no-control-regex
const STYLES = /(\u001b\[(?:[0-4]|2[1-4]|3[1-69]|9[1-6])m)/

/** Like `printable`, and keeps styles. */
export function printableStyled(text: string): string {
  if (!text.includes('\u001b')) return printable(text)
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('')
}
