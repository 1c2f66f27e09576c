import { StorageError } from '../storage-error.ts'

/** One message between processes. `replyTo` and `id` are empty if the sender expects no answer. */
export interface BusMessage {
  readonly topic: string
  readonly id: string
  readonly replyTo: string
  readonly payload: string
}

export const PAYLOAD_BYTES_MAX = 7 * 1024

const TOPIC_PATTERN = /^[a-z0-9][a-z0-9._:-]{0,99}$/

/**
 * Encodes the fields as lines before the payload, not as JSON, because escaping could exceed PostgreSQL's limit of 8,000 bytes.
 */
export function encodeBusMessage({ topic, id, replyTo, payload }: BusMessage): string {
  if (!TOPIC_PATTERN.test(topic))
    throw new StorageError('bad_message', `Not a topic: ${JSON.stringify(topic)}.`)
  const bytes = Buffer.byteLength(payload)
  if (bytes > PAYLOAD_BYTES_MAX) {
    throw new StorageError(
      'bad_message',
      `A message of ${bytes} bytes is over the limit of ${PAYLOAD_BYTES_MAX}.`,
    )
  }
  if (payload.includes('\0'))
    throw new StorageError('bad_message', 'A message cannot hold the character U+0000.')
  return `${topic}\n${id}\n${replyTo}\n${payload}`
}

export function decodeBusMessage(text: string): BusMessage | null {
  const match = /^([^\n]*)\n([^\n]*)\n([^\n]*)\n/.exec(text)
  if (!match) return null
  const [head, topic = '', id = '', replyTo = ''] = match
  return { topic, id, replyTo, payload: text.slice(head.length) }
}
