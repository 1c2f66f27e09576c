import { invalidValue } from '../../kernel/app-error.ts'
import type { ChainLink } from './read-responses.ts'
import { identifyInputItems, readInputItems, readOutputItems, type Item } from './response-items.ts'

export interface ItemPageRequest {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id of an item. The list starts after it. */
  readonly after: string | null
}

export interface ItemPage {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

/** Lists what the model was given for the last response of a chain: the history, then the new items. */
export async function listInputItems(
  links: readonly ChainLink[],
  { limit, order, after }: ItemPageRequest,
): Promise<ItemPage> {
  const all: Item[] = []
  for (const [index, { id, input, response }] of links.entries()) {
    all.push(...identifyInputItems(id, await readInputItems(input)))
    if (index < links.length - 1) all.push(...(await readOutputItems(response)))
  }
  const ordered = order === 'asc' ? all : all.toReversed()
  const place = after === null ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== null && place === -1)
    throw invalidValue('after', 'after must be the id of an item of the list.')
  const items = ordered.slice(place + 1, place + 1 + limit)
  return { items, hasMore: place + 1 + limit < ordered.length }
}
