const BEGIN = '# >>> parkway >>>'
const END = '# <<< parkway <<<'

/** Replaces the block of Parkway in a shell profile, or adds it at the end. */
export function setProfileBlock(text: string, lines: readonly string[]): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const block = [BEGIN, ...lines, END].join(eol)
  const start = text.indexOf(BEGIN)
  const end = text.indexOf(END, start)
  if (start !== -1 && end !== -1) return text.slice(0, start) + block + text.slice(end + END.length)
  const gap = text === '' || text.endsWith('\n') ? '' : eol
  return `${text}${gap}${text === '' ? '' : eol}${block}${eol}`
}
