import { isRecord } from '../kernel/is-record.ts'

/** A piece of what a model thought: text that may be signed, a signature that follows its text, or something only its vendor can read. */
export type Thought =
  | { readonly kind: 'text'; readonly text: string; readonly signature: string | null }
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }

/**
 * Of a message of the chat form, or of a delta of one. Providers that sign thoughts tell them in `reasoning_details`; the text
 * alone stands in `reasoning_content` or `reasoning`.
 */
export function readThoughts(message: Readonly<Record<string, unknown>>): Thought[] {
  const plain = [message['reasoning_content'], message['reasoning']].find(isText)
  const details = Array.isArray(message['reasoning_details']) ? message['reasoning_details'] : []
  const signed = details.filter(isRecord).flatMap((detail) => readDetail(detail))
  // A whole message has its thoughts in both places, a delta of a stream has the signature apart from the text.
  if (plain === undefined || signed.some(({ kind }) => kind === 'text')) return signed
  return [{ kind: 'text', text: plain, signature: null }, ...signed]
}

/** Streams tell a thought piece by piece, and once more as a whole when it is signed. */
export function isToldAgain({ text, signature }: Extract<Thought, { kind: 'text' }>, told: string): boolean {
  return signature !== null && told !== '' && told.endsWith(text)
}

function readDetail(detail: Record<string, unknown>): Thought[] {
  const { text, signature, data } = detail
  if (isText(data)) return [{ kind: 'redacted', data }]
  if (isText(text)) return [{ kind: 'text', text, signature: isText(signature) ? signature : null }]
  return isText(signature) ? [{ kind: 'signature', signature }] : []
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
