import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { parseLargeJson } from '../../kernel/json/parse-json-in-turns.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { isOwnSummary, openSummary } from '../../wires/openai-responses/compaction.ts'
import { conversationIdOf, type ItemConversations } from './conversations/item-conversations.ts'
import { findItems } from './find-items.ts'
import { readChain, type ChainLink } from './read-responses.ts'
import { readInputItems, readOutputItems, type Item } from './response-items.ts'

type Input = ResponsesRequest['input']

export interface ResolvedInput {
  /** The complete input of the model: the history, then the new items. */
  readonly whole: Input
  /** Only the new items, with references replaced by the items they name. */
  readonly own: Input
}

export interface ResolveOptions {
  readonly database: Database
  readonly conversations: Pick<ItemConversations, 'readForAnswer'>
  /** Limits the history and the referenced items, each. */
  readonly bytesMax: number
  /** Counts the memory of what is read, before it is read. Throws if there is no room for it. */
  readonly countRead?: ((bytes: number) => void) | undefined
}

/** A client must send a longer conversation as input or start a new one. */
export const CHAIN_LENGTH_MAX = 500
const ITEMS_MAX = 16_384

type Continued = Pick<ResponsesRequest, 'input' | 'previous_response_id' | 'conversation'>

export function needsHistory(request: Continued): boolean {
  const { input, previous_response_id: previousId } = request
  if (typeof previousId === 'string' || conversationIdOf(request) !== null) return true
  return typeof input !== 'string' && input.some((item) => isReference(item) || isOwnSummary(item))
}

/** Reads the stored responses and items that a request names. Throws if one is unknown or if there is too much. */
export async function resolveInput(
  options: ResolveOptions,
  place: Place,
  request: Continued,
): Promise<ResolvedInput> {
  const { input, previous_response_id: previousId } = request
  const conversationId = conversationIdOf(request)
  if (conversationId !== null && typeof previousId === 'string')
    throw invalidValue('conversation', 'A response continues a conversation or a response, not both.')
  const history =
    conversationId !== null
      ? await options.conversations.readForAnswer(place, conversationId, options.countRead)
      : typeof previousId === 'string'
        ? await readHistory(options, place, previousId)
        : []
  const own = typeof input === 'string' ? input : await resolveReferences(options, place, input)
  const joined = history.length === 0 ? own : [...history, ...toItems(own)]
  const whole = typeof joined === 'string' ? joined : joined.map(openSummary)
  if (whole.length > ITEMS_MAX && typeof whole !== 'string')
    throw invalidValue('input', `A conversation has ${ITEMS_MAX} items at most.`)
  return { whole, own }
}

export function toItems(input: Input): readonly Item[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

async function readHistory(
  { database, bytesMax, countRead }: ResolveOptions,
  place: Place,
  previousId: string,
): Promise<Item[]> {
  const { links, isBeyondLimits } = await readChain(database, place, previousId, {
    lengthMax: CHAIN_LENGTH_MAX,
    bytesMax,
    countRead,
  })
  const [oldest, last] = [links[0], links.at(-1)]
  if (oldest === undefined || last === undefined) throw previousNotFound(previousId)
  if (isBeyondLimits) {
    const message =
      `The conversation of '${previousId}' is longer than ${CHAIN_LENGTH_MAX} responses or larger than ${bytesMax} bytes. ` +
      'Send what is still needed of it as input.'
    throw new AppError('context_length_exceeded', message, { param: 'previous_response_id' })
  }
  if (oldest.previousId !== null) throw previousNotFound(oldest.previousId)
  await requireEnded(last)
  const items: Item[] = []
  for (const { input, response } of links)
    items.push(...(await readInputItems(input)), ...(await readOutputItems(response)))
  return items
}

/** Throws if a background response has no answer yet. */
async function requireEnded({ id, response }: ChainLink): Promise<void> {
  const value = await parseLargeJson(response)
  const status = isRecord(value) ? value['status'] : null
  if (status === 'completed' || status === 'incomplete') return
  throw invalidValue('previous_response_id', `The response '${id}' has no answer that can be continued.`)
}

function previousNotFound(id: string): AppError {
  return new AppError('previous_response_not_found', `Previous response with id '${id}' not found.`, {
    param: 'previous_response_id',
  })
}

async function resolveReferences(
  options: ResolveOptions,
  place: Place,
  input: readonly Item[],
): Promise<Item[]> {
  const ids = input.filter(isReference).map(({ id }) => String(id))
  if (ids.length === 0) return [...input]
  const found = await findItems(options, place, new Set(ids))
  return input.map((item, index) => {
    if (!isReference(item)) return item
    const known = found.get(String(item['id']))
    if (known !== undefined) return known
    const message = `Item with id '${String(item['id'])}' not found. Items of responses that were not stored have to be sent whole.`
    throw new AppError('not_found', message, { param: `input.${index}.id` })
  })
}

function isReference(item: Item): boolean {
  return item['type'] === 'item_reference'
}
