import { isRecord } from '../kernel/is-record.ts'
import { readSpokenText } from './read-spoken-text.ts'

/** A piece of reasoning: text that may be signed, a signature for the preceding text, or data that only its vendor can read. */
export type Thought =
  | { readonly kind: 'text'; readonly text: string; readonly signature: string | null }
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }

/**
 * Reads the reasoning of a chat message or delta. Providers that sign reasoning use `reasoning_details`; plain text is in
 * `reasoning_content` or `reasoning`.
 */
export function readThoughts(message: Readonly<Record<string, unknown>>): Thought[] {
  const plain = [
    message['reasoning_content'],
    message['reasoning'],
    readThinkingParts(message['content']),
  ].find(isText)
  const details = Array.isArray(message['reasoning_details']) ? message['reasoning_details'] : []
  const signed = details.filter(isRecord).flatMap((detail) => readDetail(detail))
  // A complete message has its reasoning in both places. A delta has the signature without the text.
  if (plain === undefined || signed.some(({ kind }) => kind === 'text')) return signed
  return [{ kind: 'text', text: plain, signature: null }, ...signed]
}

/** Whether the text was already streamed. Streams send reasoning in pieces, and once more in full with the signature. */
export function isToldAgain({ text, signature }: Extract<Thought, { kind: 'text' }>, told: string): boolean {
  return signature !== null && told !== '' && told.endsWith(text)
}

function readDetail(detail: Record<string, unknown>): Thought[] {
  const { text, signature, data } = detail
  if (isText(data)) return [{ kind: 'redacted', data }]
  if (isText(text)) return [{ kind: 'text', text, signature: isText(signature) ? signature : null }]
  return isText(signature) ? [{ kind: 'signature', signature }] : []
}

/** Mistral's models put what they think into parts of the content. */
function readThinkingParts(content: unknown): string {
  if (!Array.isArray(content)) return ''
  const parts: readonly unknown[] = content
  return parts.map((part) => (isRecord(part) ? readSpokenText(part['thinking']) : '')).join('')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
