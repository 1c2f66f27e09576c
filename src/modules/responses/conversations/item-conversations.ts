import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import { createToken } from '../../../kernel/identifiers.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { Database } from '../../../storage/database.ts'
import { requireRoom, takeRoom, type QuotaOf } from '../../../storage/stored-bytes/stored-bytes.ts'
import type { Place } from '../../../storage/place.ts'
import type { ItemPage, ItemPageRequest } from '../list-input-items.ts'
import { identifyItem, type Item } from '../response-items.ts'
import {
  deleteConversation,
  deleteItem,
  insertConversation,
  insertItems,
  readConversation,
  readItem,
  readItems,
  sizeOfItems,
  updateMetadata,
  type ConversationRecord,
} from './conversation-rows.ts'

/** Conversations of OpenAI's wire: items of an account that responses continue and add to. */
export interface ItemConversations {
  create(place: Place, order: NewConversation): Promise<ConversationRecord>
  read(place: Place, id: string): Promise<ConversationRecord>
  setMetadata(place: Place, id: string, metadata: Metadata): Promise<ConversationRecord>
  delete(place: Place, id: string): Promise<void>
  /** Returns the items with their ids. */
  addItems(place: Place, id: string, items: readonly Item[]): Promise<Item[]>
  readItem(place: Place, id: string, itemId: string): Promise<Item>
  deleteItem(place: Place, id: string, itemId: string): Promise<ConversationRecord>
  listItems(place: Place, id: string, page: ItemPageRequest): Promise<ItemPage>
  /** Returns all items, for a model. Throws if there are too many, or if the account has no room for an answer to them. */
  readForAnswer(place: Place, id: string, countRead?: (bytes: number) => void): Promise<Item[]>
  /** Adds what a response was given and answered. It is charged already, so that the quota does not refuse it. */
  addAnswered(place: Place, id: string, items: readonly Item[]): Promise<void>
}

type Metadata = Readonly<Record<string, string>>

interface NewConversation {
  readonly items: readonly Item[]
  readonly metadata: Metadata
}

interface ItemConversationsOptions {
  readonly database: Database
  readonly quotaOf: QuotaOf
  /** 0 stores nothing. */
  readonly retentionMs: number
  /** Maximum size of a conversation that is read for a model. */
  readonly historyBytesMax: number
}

/** As many as a request may hold. */
const ITEMS_MAX = 16_384
/** What a row takes besides its text, as the database counts it. */
const ROW_BYTES = 256
/** A conversation with more is continued in a new one. */
const POSITION_MAX = 1_000_000

export function createItemConversations(options: ItemConversationsOptions): ItemConversations {
  const { database, quotaOf, retentionMs } = options

  const add = async (
    accountId: string,
    texts: readonly string[],
    write: (transaction: Parameters<Parameters<Database['transaction']>[0]>[0]) => Promise<boolean>,
  ): Promise<void> => {
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + ROW_BYTES, 0)
    const bytesMax = await quotaOf(accountId, 'response')
    const isWritten = await database.transaction(async (transaction) => {
      await takeRoom(transaction, { kind: 'response', accountId, bytesMax, bytes, param: 'items' })
      return write(transaction)
    })
    if (!isWritten) throw notFound('conversation')
  }

  const require = async (place: Place, id: string): Promise<ConversationRecord> => {
    const record = await readConversation(database, { place, id })
    if (record === null) throw notFound('conversation')
    return record
  }

  return {
    async create(place, { items, metadata }) {
      requireStorage(retentionMs)
      const id = createToken('conv_')
      const given = identify(items)
      const stored = stringifyJson(metadata)
      const rows = given.map(toRow)
      await add(place.accountId, [stored, ...rows.map(({ item }) => item)], async (transaction) => {
        await insertConversation(transaction, { place, id, metadata: stored, retentionMs })
        if (rows.length > 0) await insertItems(transaction, { place, id, retentionMs }, rows)
        return true
      })
      return require(place, id)
    },
    read: require,
    async setMetadata(place, id, metadata) {
      const stored = stringifyJson(metadata)
      await add(place.accountId, [stored], (transaction) =>
        updateMetadata(transaction, { place, id }, stored),
      )
      return require(place, id)
    },
    async delete(place, id) {
      if (!(await deleteConversation(database, { place, id }))) throw notFound('conversation')
    },
    async addItems(place, id, items) {
      const { added } = await require(place, id)
      if (added + items.length > POSITION_MAX)
        throw invalidValue('items', `A conversation takes ${POSITION_MAX} items in all. Begin a new one.`)
      const given = identify(items)
      const rows = given.map(toRow)
      await add(
        place.accountId,
        rows.map(({ item }) => item),
        (transaction) => insertItems(transaction, { place, id, retentionMs }, rows),
      )
      return given
    },
    async readItem(place, id, itemId) {
      const item = await readItem(database, { place, id }, itemId)
      if (item === null) throw notFound('item')
      return item
    },
    async deleteItem(place, id, itemId) {
      const record = await require(place, id)
      if (!(await deleteItem(database, { place, id }, itemId))) throw notFound('item')
      return record
    },
    async listItems(place, id, page) {
      await require(place, id)
      const items = await readItems(database, { place, id }, { ...page, limit: page.limit + 1 })
      if (items === null) throw invalidValue('after', 'after must be the id of an item of the list.')
      return { items: items.slice(0, page.limit), hasMore: items.length > page.limit }
    },
    async readForAnswer(place, id, countRead) {
      requireStorage(retentionMs)
      const size = await sizeOfItems(database, { place, id })
      if (size === null) throw conversationNotFound(id)
      if (size.bytes > options.historyBytesMax || size.count > ITEMS_MAX) {
        const message =
          `The conversation '${id}' has more than ${ITEMS_MAX} items or is larger than ${options.historyBytesMax} bytes. ` +
          'Delete items of it, or begin a new one with what is still needed.'
        throw new AppError('context_length_exceeded', message, { param: 'conversation' })
      }
      await requireRoom(database, { quotaOf, kind: 'response', accountId: place.accountId })
      countRead?.(size.bytes)
      const page = { limit: ITEMS_MAX, order: 'asc', after: null } as const
      return (await readItems(database, { place, id }, page)) ?? []
    },
    async addAnswered(place, id, items) {
      await insertItems(database, { place, id, retentionMs }, identify(items).map(toRow))
    },
  }
}

/** Returns the id of the conversation that a request names. Null if it names none. */
export function conversationIdOf(body: object): string | null {
  const given: unknown = Reflect.get(body, 'conversation')
  const id: unknown = isRecord(given) ? given['id'] : given
  return typeof id === 'string' ? id : null
}

function identify(items: readonly Item[]): Item[] {
  return items.map((item, index) => {
    if (item['type'] === 'item_reference')
      throw invalidValue(`items.${index}.type`, 'A conversation holds items, not references. Send the item.')
    return identifyItem(item)
  })
}

function toRow(item: Item): { id: string; item: string } {
  return { id: String(item['id']), item: stringifyJson(item) }
}

function conversationNotFound(id: string): AppError {
  return new AppError('not_found', `Conversation with id '${id}' not found.`, { param: 'conversation' })
}

function requireStorage(retentionMs: number): void {
  if (retentionMs > 0) return
  const message =
    'This gateway does not store responses (PARKWAY_RESPONSE_RETENTION_DAYS is 0), and so no conversations. Send all items as input.'
  throw new AppError('unsupported_parameter', message, { param: 'conversation' })
}
