import { isRecord } from '../../kernel/is-record.ts'

const START = 'x-anthropic-billing-header:'
/** Claude Code's line has about a hundred characters. A longer one is text of the prompt, which is held and billed as such. */
const LENGTH_MAX = 256
/** Bounds the tokens of a line, in any vocabulary. */
export const BILLING_LINE_TOKENS_MAX = LENGTH_MAX

/**
 * Returns instructions without the line that Claude Code writes before them. It is for Anthropic only and has another value in every
 * request, so that no other upstream would find the prompt in its cache. Returns the same object if there is no such line.
 */
export function withoutBillingLine<System>(system: System): System | string | readonly unknown[] {
  if (typeof system === 'string') return cutLine(system)
  if (!Array.isArray(system)) return system
  const [first, ...others]: readonly unknown[] = system
  if (!isRecord(first) || first['type'] !== 'text' || typeof first['text'] !== 'string') return system
  const text = cutLine(first['text'])
  if (text === first['text']) return system
  return text === '' ? others : [{ ...first, text }, ...others]
}

export function hasBillingLine(system: unknown): boolean {
  return withoutBillingLine(system) !== system
}

const ASCII = /^[\x20-\x7e]*$/

function cutLine(text: string): string {
  if (!text.startsWith(START)) return text
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  if (line.length > LENGTH_MAX || !ASCII.test(line)) return text
  return end === -1 ? '' : text.slice(end + 1)
}
