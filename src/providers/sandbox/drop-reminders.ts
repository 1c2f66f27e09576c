const OPENING = '<system-reminder>'
const CLOSING = '</system-reminder>'

/** A user's text without what a coding agent puts into it for the model: those words name tools that nobody wants called. */
export function dropReminders(text: string): string {
  let kept = ''
  let position = 0
  for (;;) {
    const start = text.indexOf(OPENING, position)
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start)
    if (end === -1) return kept + text.slice(position)
    kept += text.slice(position, start)
    position = end + CLOSING.length
  }
}
