import { AppError } from '../../kernel/app-error.ts'
import type { Database } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { placeOfInputItem, readInputItems, readOutputItems, type Item } from './response-items.ts'

interface FindOptions {
  readonly database: Database
  /** Maximum size of the responses that hold the items. */
  readonly bytesMax: number
  readonly countRead?: ((bytes: number) => void) | undefined
}

/** Finds input and output items of the stored responses within a place by id. */
export async function findItems(
  { database, bytesMax, countRead }: FindOptions,
  within: Place,
  itemIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Item>> {
  const places = [...itemIds].flatMap((id) => {
    const place = placeOfInputItem(id)
    return place === null ? [] : [{ id, ...place }]
  })
  const values = [idsOf(within), [...itemIds], places.map(({ responseId }) => responseId)]
  const [size] = await database.query<{ bytes: bigint }>(
    `SELECT coalesce(sum(response_bytes(input, response)), 0)::bigint AS bytes FROM responses WHERE ${holdsItem(within)}`,
    values,
  )
  if (Number(size?.bytes ?? 0) > bytesMax) {
    const message = `The responses that the references name are larger than ${bytesMax} bytes together. Send the items whole.`
    throw new AppError('request_too_large', message, { param: 'input' })
  }
  countRead?.(Number(size?.bytes ?? 0))
  const rows = await database.query<{ id: string; input: string; response: string }>(
    `SELECT id, input, response FROM responses WHERE ${holdsItem(within)} ORDER BY created_at`,
    values,
  )
  const found = new Map<string, Item>()
  for (const { response } of rows)
    for (const item of await readOutputItems(response))
      if (typeof item['id'] === 'string' && itemIds.has(item['id'])) found.set(item['id'], item)
  const named = new Set(places.map(({ responseId }) => responseId))
  const inputs = new Map<string, Item[]>()
  for (const { id, input } of rows) if (named.has(id)) inputs.set(id, await readInputItems(input))
  for (const { id, responseId, index } of places) {
    const item = inputs.get(responseId)?.[index]
    if (item !== undefined) found.set(id, item)
  }
  return found
}

const holdsItem = (within: Place): string =>
  `${isWithin(within, '$1')} AND expires_at > now() AND (item_ids && $2::text[] OR id = ANY ($3::text[]))`
