import { isRecord } from '../../../kernel/is-record.ts'

/** The texts of an answer, by the endpoint of its batch. Null: it has none. */
export function readBatchAnswer(endpoint: string, body: unknown): string | null {
  const read = READERS.get(endpoint)
  if (read === undefined || !isRecord(body)) return null
  const text = read(body).join('')
  return text === '' ? null : text
}

/** The name of the operation that asks such bodies. Undefined: they have no prompts. */
export const PROMPT_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
])

const READERS: ReadonlyMap<string, (body: Record<string, unknown>) => string[]> = new Map([
  ['/v1/chat/completions', ({ choices }) => textsOf(memberOf(itemsOf(choices)[0], 'message'), 'content')],
  ['/v1/messages', ({ content }) => itemsOf(content).flatMap((part) => textsOf(part, 'text'))],
  [
    '/v1/responses',
    ({ output }) =>
      itemsOf(output)
        .flatMap((item) => itemsOf(memberOf(item, 'content')))
        .flatMap((part) => textsOf(part, 'text')),
  ],
])

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : null
}

function textsOf(value: unknown, name: string): string[] {
  const text = memberOf(value, name)
  return typeof text === 'string' ? [text] : []
}
