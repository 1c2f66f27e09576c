import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type SavedChat = Schemas['SavedChat']
export type SavedChatKind = SavedChat['kind']
export type ChatContent = Schemas['SavedChatWithContent']['content']

const LISTED_MAX = 100

/** What the person keeps, and what others share with them, the last changed first. */
export const savedChatsQuery = (kind: SavedChatKind) =>
  queryOptions({
    queryKey: ['saved-chats', kind],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/saved-chats', { params: { query: { kind, limit: LISTED_MAX } }, signal })),
  })

export const savedChatQuery = (id: string) =>
  queryOptions({
    queryKey: ['saved-chats', 'one', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/saved-chats/{id}', { params: { path: { id } }, signal })),
    staleTime: 0,
    retry: false,
  })

export const saveChat = (body: {
  readonly kind: SavedChatKind
  readonly name: string
  readonly visibility: SavedChat['visibility']
  readonly content: ChatContent
}) => call(() => client.POST('/v1/saved-chats', { body }))

export const changeSavedChat = (
  id: string,
  body: {
    readonly name?: string
    readonly visibility?: SavedChat['visibility']
    readonly content?: ChatContent
  },
) => call(() => client.PATCH('/v1/saved-chats/{id}', { params: { path: { id } }, body }))

export const deleteSavedChat = (id: string) =>
  call(() => client.DELETE('/v1/saved-chats/{id}', { params: { path: { id } } }))
