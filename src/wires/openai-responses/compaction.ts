import { createToken } from '../../kernel/identifiers.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { ResponsesRequest } from './responses-request.ts'

type Item = Readonly<Record<string, unknown>>
type Input = ResponsesRequest['input']

/** Begins the summaries that this gateway made. Clients only pass them back. */
const START = 'parkway.summary.1.'

const TASK =
  'Summarise the conversation so far for a model that continues it and sees only your summary and the messages of the user. ' +
  'Keep what was decided and why, facts, names, numbers, paths, code and results of tools that are still needed, and what is ' +
  'left to do. Answer with the summary only.'

/** Returns the request that makes the summary of a conversation. */
export function toCompactionRequest(body: ResponsesRequest, input: Input): ResponsesRequest {
  const items: readonly Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return {
    model: body.model,
    ...(typeof body.instructions === 'string' ? { instructions: body.instructions } : {}),
    input: [...items, { role: 'user', content: TASK }],
    ...(typeof body.prompt_cache_key === 'string' ? { prompt_cache_key: body.prompt_cache_key } : {}),
    store: false,
  }
}

/** Converts the response with the summary: what the user said, then one item with the summary. */
export function toCompacted(response: Item, input: Input): object {
  const items: readonly Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const summary = {
    id: createToken('cmp_'),
    type: 'compaction',
    encrypted_content: sealSummary(textOf(response)),
  }
  return {
    id: response['id'],
    object: 'response.compaction',
    created_at: response['created_at'],
    output: [...items.filter(isOfUser).map(toShown), summary],
    usage: response['usage'],
  }
}

function isOfUser(item: Item): boolean {
  return (item['type'] ?? 'message') === 'message' && item['role'] === 'user'
}

function toShown(item: Item): Item {
  const { content, id } = item
  return {
    ...item,
    id: typeof id === 'string' ? id : createToken('msg_'),
    type: 'message',
    status: 'completed',
    content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
  }
}

function textOf({ output }: Item): string {
  const items: readonly unknown[] = Array.isArray(output) ? output : []
  const parts = items.flatMap((item): unknown[] =>
    isRecord(item) && item['type'] === 'message' && Array.isArray(item['content']) ? item['content'] : [],
  )
  return parts
    .map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

function sealSummary(text: string): string {
  return START + Buffer.from(text).toString('base64url')
}

/** Whether an item is a summary that this gateway made. */
export function isOwnSummary(item: object): boolean {
  const sealed: unknown = Reflect.get(item, 'encrypted_content')
  return Reflect.get(item, 'type') === 'compaction' && typeof sealed === 'string' && sealed.startsWith(START)
}

/** Replaces a summary of this gateway by a message that every model can read. */
export function openSummary<Given extends object>(item: Given): Given | Item {
  if (!isOwnSummary(item)) return item
  const sealed = String(Reflect.get(item, 'encrypted_content'))
  const text = Buffer.from(sealed.slice(START.length), 'base64url').toString()
  return { type: 'message', role: 'user', content: `Summary of the conversation so far:\n\n${text}` }
}
