/** The text before the first stop sequence. */
export function cutAtStop(text: string, stop: string | readonly string[]): string {
  let end = text.length
  for (const sequence of typeof stop === 'string' ? [stop] : stop) {
    const found = sequence === '' ? -1 : text.indexOf(sequence)
    if (found !== -1 && found < end) end = found
  }
  // A sequence may begin with the second half of a character that takes two units.
  const last = end > 0 && end < text.length ? text.charCodeAt(end - 1) : 0
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)
}
