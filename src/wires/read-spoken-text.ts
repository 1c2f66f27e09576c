import { isRecord } from '../kernel/is-record.ts'

/** Returns the text of a message's `content`. Some vendors send a list of parts, of which those with text are read. */
export function readSpokenText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const parts: readonly unknown[] = content
  return parts.map(textOf).join('')
}

function textOf(part: unknown): string {
  if (typeof part === 'string') return part
  return isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''
}
