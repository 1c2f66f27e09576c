const OPENING = '<system-reminder>'
const CLOSING = '</system-reminder>'

/** Removes the reminders that a coding agent adds to the user's text. They name tools that should not be called. */
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
