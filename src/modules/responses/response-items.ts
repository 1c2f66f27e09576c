import { isRecord } from '../../kernel/is-record.ts'
import { parseLargeJson } from '../../kernel/json/parse-json-in-turns.ts'
import { requestIdOf } from '../../wires/openai-responses/response-id.ts'
import { createToken, uuidOfRequest } from '../../kernel/identifiers.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

export type Item = Readonly<Record<string, unknown>>

/** Reads the items of a stored response. They were validated on arrival, so they are read leniently. */
export async function readInputItems(input: string): Promise<Item[]> {
  const value = await parseLargeJson(input)
  if (typeof value === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: value }] }]
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export async function readOutputItems(response: string): Promise<Item[]> {
  const value = await parseLargeJson(response)
  return isRecord(value) && Array.isArray(value['output']) ? value['output'].filter(isRecord) : []
}

/** Gives each item an id that a reference can name. */
export function identifyInputItems(responseId: string, items: readonly Item[]): Item[] {
  const digits = digitsOf(responseId)
  return items.map((item, index) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const id = typeof item['id'] === 'string' ? item['id'] : `${PREFIXES[type] ?? 'item_'}${digits}_${index}`
    return { ...item, id, type, ...shownContent(item, type) }
  })
}

/** Gives an item an id of its own, unless it has one. */
export function identifyItem(item: Item): Item {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message'
  const { id } = item
  const isKept = typeof id === 'string' && ITEM_ID.test(id)
  return {
    ...item,
    id: isKept ? id : createToken(PREFIXES[type] ?? 'item_'),
    type,
    ...shownContent(item, type),
  }
}

const PREFIXES = lookupTable<string>({
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  reasoning: 'rs_',
})

/** Lists messages with parts and a status, in whichever form they were sent. */
function shownContent(item: Item, type: string): object {
  if (type !== 'message') return {}
  const { content, role, status } = item
  const kind = role === 'assistant' ? 'output_text' : 'input_text'
  const part = { type: kind, text: content, ...(role === 'assistant' ? { annotations: [] } : {}) }
  return { status: status ?? 'completed', ...(typeof content === 'string' ? { content: [part] } : {}) }
}

const INPUT_ITEM_ID = /^[a-z]+_([0-9a-f]{32})_(\d{1,5})$/

/** Returns the place of an input item from the id under which it is listed. */
export function placeOfInputItem(itemId: string): { responseId: string; index: number } | null {
  const [, digits, index] = INPUT_ITEM_ID.exec(itemId) ?? []
  return digits === undefined ? null : { responseId: `resp_${digits}`, index: Number(index) }
}

function digitsOf(responseId: string): string {
  const requestId = requestIdOf(responseId)
  return requestId === null ? '' : uuidOfRequest(requestId)
}

const ITEM_ID = /^[\w-]{1,128}$/
const ITEM_IDS_MAX = 4_096

/** Returns the ids of output items that a reference can name. */
export function listItemIds(items: readonly Item[]): string[] {
  const ids = items.flatMap(({ id }) => (typeof id === 'string' && ITEM_ID.test(id) ? [id] : []))
  return [...new Set(ids)].slice(0, ITEM_IDS_MAX)
}
