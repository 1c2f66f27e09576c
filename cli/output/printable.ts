/** Control characters other than tab and line feed, which could move the cursor, set the title or answer for the user. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Makes text from outside safe to print on a terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, '')
}
