const MARK = 'Parkway sandbox speech: '

/** Writes the spoken text for the tags of a file. It ends in a JSON string, whose closing quote marks the end. */
export function writeSpeechTag(text: string): string {
  return `${MARK}${JSON.stringify(text)}`
}

/** Reads the text from the first bytes of a file of any format. Null if the file is not the sandbox's own speech. */
export function readSpeechTag(bytes: Buffer): string | null {
  const start = bytes.indexOf(MARK)
  if (start === -1) return null
  const rest = bytes.toString('utf8', start + MARK.length)
  const end = findClosingQuote(rest)
  if (end === -1) return null
  try {
    const text: unknown = JSON.parse(rest.slice(0, end + 1))
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

function findClosingQuote(text: string): number {
  if (!text.startsWith('"')) return -1
  for (let index = 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1
    else if (text[index] === '"') return index
  }
  return -1
}
