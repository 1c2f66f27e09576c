import { isRecord } from '../../kernel/is-record.ts'
import type { Item } from './response-items.ts'

/**
 * Returns the events of an answered response, as a stream would have sent them, with each text in one piece. They are the same
 * whenever they are read, so that a reader can go on after any of them.
 */
export function replayEvents(response: Item): Buffer[] {
  const events: Buffer[] = []
  const emit = (type: string, members: object): void => {
    events.push(Buffer.from(JSON.stringify({ type, sequence_number: events.length, ...members })))
  }
  const begun = { ...response, status: 'in_progress', output: [], usage: null, ...NOTHING_YET }
  emit('response.created', { response: begun })
  emit('response.in_progress', { response: begun })
  const output: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : []
  for (const [index, item] of output.entries())
    if (isRecord(item))
      replayItem(item, (type, members) => emit(`response.${type}`, { output_index: index, ...members }))
  emit(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', { response })
  return events
}

const NOTHING_YET = { completed_at: null, incomplete_details: null }

type Emit = (type: string, members: object) => void

function replayItem(item: Item, emit: Emit): void {
  const { id, type } = item
  emit('output_item.added', { item: { ...item, ...emptied(item) } })
  const tell: Emit = (name, members) => emit(name, { item_id: id, ...members })
  if (type === 'message') replayParts(item['content'], tell)
  if (type === 'reasoning') replayThoughts(item, tell)
  if (type === 'function_call') {
    tell('function_call_arguments.delta', { delta: item['arguments'] })
    tell('function_call_arguments.done', { arguments: item['arguments'] })
  }
  if (type === 'custom_tool_call') {
    tell('custom_tool_call_input.delta', { delta: item['input'] })
    tell('custom_tool_call_input.done', { input: item['input'] })
  }
  emit('output_item.done', { item })
}

/** The members of an item before its first event. */
function emptied(item: Item): object {
  const status = item['status'] === undefined ? {} : { status: 'in_progress' }
  const empty = Object.fromEntries(
    [
      ['content', []],
      ['summary', []],
      ['arguments', ''],
      ['input', ''],
    ].filter(([name]) => typeof name === 'string' && name in item),
  )
  return { ...status, ...empty }
}

function replayParts(content: unknown, tell: Emit): void {
  for (const [index, part] of partsOf(content).entries()) {
    const place = { content_index: index }
    const { type, text, refusal } = part
    if (type === 'output_text') {
      tell('content_part.added', { ...place, part: { ...part, text: '', annotations: [] } })
      tell('output_text.delta', { ...place, delta: text, logprobs: [] })
      tell('output_text.done', { ...place, text, logprobs: [] })
    } else if (type === 'refusal') {
      tell('content_part.added', { ...place, part: { ...part, refusal: '' } })
      tell('refusal.delta', { ...place, delta: refusal })
      tell('refusal.done', { ...place, refusal })
    } else tell('content_part.added', { ...place, part })
    tell('content_part.done', { ...place, part })
  }
}

function replayThoughts(item: Item, tell: Emit): void {
  for (const [index, part] of partsOf(item['summary']).entries()) {
    const place = { summary_index: index }
    tell('reasoning_summary_part.added', { ...place, part: { ...part, text: '' } })
    tell('reasoning_summary_text.delta', { ...place, delta: part['text'] })
    tell('reasoning_summary_text.done', { ...place, text: part['text'] })
    tell('reasoning_summary_part.done', { ...place, part })
  }
  for (const [index, part] of partsOf(item['content']).entries()) {
    const place = { content_index: index }
    tell('content_part.added', { ...place, part: { ...part, text: '' } })
    tell('reasoning_text.delta', { ...place, delta: part['text'] })
    tell('reasoning_text.done', { ...place, text: part['text'] })
    tell('content_part.done', { ...place, part })
  }
}

function partsOf(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
