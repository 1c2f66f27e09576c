import { AppError } from '../../kernel/app-error.ts'
import type { Database } from '../../storage/database.ts'
import { placeOfInputItem, readInputItems, readOutputItems, type Item } from './response-items.ts'

interface FindOptions {
  readonly database: Database
  /** Maximum size of the responses that hold the items. */
  readonly bytesMax: number
}

/** Finds input and output items of the account's stored responses by id. */
export async function findItems(
  { database, bytesMax }: FindOptions,
  accountId: string,
  itemIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Item>> {
  const places = [...itemIds].flatMap((id) => {
    const place = placeOfInputItem(id)
    return place === null ? [] : [{ id, ...place }]
  })
  const named = [accountId, [...itemIds], places.map(({ responseId }) => responseId)]
  const [size] = await database.query<{ bytes: bigint }>(
    `SELECT coalesce(sum(response_bytes(input, response)), 0)::bigint AS bytes FROM responses WHERE ${HOLDS_ITEM}`,
    named,
  )
  if (Number(size?.bytes ?? 0) > bytesMax) {
    const message = `The responses that the references name are larger than ${bytesMax} bytes together. Send the items whole.`
    throw new AppError('request_too_large', message, { param: 'input' })
  }
  const rows = await database.query<{ id: string; input: string; response: string }>(
    `SELECT id, input, response FROM responses WHERE ${HOLDS_ITEM} ORDER BY created_at`,
    named,
  )
  const found = new Map<string, Item>()
  for (const { response } of rows)
    for (const item of readOutputItems(response))
      if (typeof item['id'] === 'string' && itemIds.has(item['id'])) found.set(item['id'], item)
  const inputs = new Map(rows.map(({ id, input }) => [id, input]))
  for (const { id, responseId, index } of places) {
    const input = inputs.get(responseId)
    const item = input === undefined ? undefined : readInputItems(input)[index]
    if (item !== undefined) found.set(id, item)
  }
  return found
}

const HOLDS_ITEM = `account_id = $1 AND expires_at > now() AND (item_ids && $2::text[] OR id = ANY ($3::text[]))`
