import { isRecord } from '../../../kernel/is-record.ts'

/** Returns the text that a stream of events delivered, on any of our wires. Null if the body is no stream. */
export function assembleStream(body: string): string | null {
  if (!/^(data|event|:)/.test(body)) return null
  let text = ''
  for (const line of body.split('\n'))
    if (line.startsWith('data:')) text += readDelta(line.slice('data:'.length))
  return text
}

function readDelta(data: string): string {
  let event: unknown
  try {
    event = JSON.parse(data)
  } catch {
    // The end marker, or the last event of a body that was cut.
    return ''
  }
  if (!isRecord(event)) return ''
  const { choices, delta, type } = event
  if (Array.isArray(choices)) return readChoice(choices[0])
  if (type === 'response.output_text.delta') return textOf(delta)
  if (type === 'content_block_delta' && isRecord(delta)) return textOf(delta['text'])
  return ''
}

/** Only of the first choice, because texts of several choices are mixed. */
function readChoice(choice: unknown): string {
  if (!isRecord(choice) || (choice['index'] ?? 0) !== 0) return ''
  const { delta, text } = choice
  return isRecord(delta) ? textOf(delta['content']) : textOf(text)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
