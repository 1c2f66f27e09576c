import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  CHAT_KINDS,
  CONTENT_BYTES_MAX,
  type SavedChat,
  type SavedChats,
} from '../../../modules/saved-chats/saved-chats.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, objectName, UpdatedAt, UuidId } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { ListQuery, listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'

const MESSAGES_MAX = 500

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'A name for people.' })
const Kind = Type.Enum([...CHAT_KINDS], {
  description: 'A `prompt` is kept, a `conversation` expires 30 days after its last change.',
})
const Visibility = Type.Enum(['private', 'project'], {
  description: '`private` for its owner, or `project` for everybody with a key of the project.',
})

const Content = Type.Object(
  {
    model: Type.Optional(Type.String({ maxLength: 256, description: 'The model that is asked.' })),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'What is sent beside the messages.' }),
    ),
    messages: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      maxItems: MESSAGES_MAX,
      description: 'The messages in order, as the client wants them back.',
    }),
  },
  {
    additionalProperties: false,
    description: `What is kept, at most ${CONTENT_BYTES_MAX / 1024} KiB as JSON. It is encrypted.`,
  },
)

const members = {
  id: UuidId,
  object: objectName('saved_chat'),
  kind: Kind,
  name: Name,
  visibility: Visibility,
  is_own: Type.Boolean({ description: 'Whether the caller saved it, and so may change it.' }),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
  expires_at: orNull(
    Type.String({ format: 'date-time' }),
    'When it is deleted. Null: when somebody deletes it.',
  ),
}
const ChatAnswer = Type.Object(members, { title: 'SavedChat' })
const WholeAnswer = Type.Object({ ...members, content: Content }, { title: 'SavedChatWithContent' })

const SaveBody = Type.Object(
  { kind: Type.Optional(Kind), name: Name, visibility: Type.Optional(Visibility), content: Content },
  {
    additionalProperties: false,
    examples: [
      {
        name: 'Summary in three sentences',
        visibility: 'project',
        content: {
          model: 'gpt-5.4-mini',
          parameters: { system: 'You summarize.' },
          messages: [{ role: 'user', content: 'Summarize in three sentences: ' }],
        },
      },
    ],
  },
)

const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    visibility: Type.Optional(Visibility),
    content: Type.Optional(Content),
  },
  { additionalProperties: false, examples: [{ name: 'Short summary' }] },
)

const Params = Type.Object({ id: Type.String({ maxLength: 100, description: 'The id of a saved chat.' }) })
const ListChatsQuery = Type.Object({ ...ListQuery.properties, kind: Type.Optional(Kind) })

/** The content may be written with escapes and spaces. */
const BODY_BYTES_MAX = 4 * CONTENT_BYTES_MAX
const AT = '/v1/saved-chats'
const shared = { tag: 'Saved chats', access: inProject('models.use') } as const

/** Prompts and conversations that people keep. */
export const savedChatRoutes = ({ savedChats }: { savedChats: SavedChats }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    summary: 'List saved chats',
    query: ListChatsQuery,
    responses: { 200: { description: 'Without their content.', schema: listSchema('chats', ChatAnswer) } },
    handle: async ({ caller, query }) =>
      listAnswer(
        'chats',
        await savedChats.list(caller, { kind: query.kind ?? null }, parsePageRequest(query)),
        toWire,
      ),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    summary: 'Save a chat',
    otherErrors: [409],
    body: SaveBody,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 201: { description: 'It is saved.', schema: ChatAnswer } },
    handle: async ({ caller, body, reply }) => {
      const { kind = 'prompt', name, visibility, content } = body
      const saved = await savedChats.save(caller, { kind, name, isShared: visibility === 'project', content })
      reply.code(201)
      return toWire(saved)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:id`,
    summary: 'Read a saved chat',
    params: Params,
    responses: { 200: { description: 'With its content.', schema: WholeAnswer } },
    handle: async ({ caller, params }) => {
      const found = await savedChats.read(caller, params.id)
      return { ...toWire(found), content: found.content }
    },
  }),
  defineRoute({
    ...shared,
    method: 'PATCH',
    path: `${AT}/:id`,
    summary: 'Change a saved chat',
    otherErrors: [409],
    params: Params,
    body: ChangeBody,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 200: { description: 'As it is now, without its content.', schema: ChatAnswer } },
    handle: async ({ caller, params, body }) => {
      const { name, visibility, content } = body
      const changes = {
        ...(name !== undefined && { name }),
        ...(visibility !== undefined && { isShared: visibility === 'project' }),
        ...(content !== undefined && { content }),
      }
      return toWire(await savedChats.change(caller, params.id, changes))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:id`,
    summary: 'Delete a saved chat',
    params: Params,
    responses: { 200: { description: 'What was deleted.', schema: ChatAnswer } },
    handle: async ({ caller, params }) => toWire(await savedChats.delete(caller, params.id)),
  }),
]

function toWire(chat: SavedChat): Static<typeof ChatAnswer> {
  return {
    id: chat.id,
    object: 'saved_chat',
    kind: chat.kind,
    name: chat.name,
    visibility: chat.isShared ? 'project' : 'private',
    is_own: chat.isOwn,
    created_at: toTimestamp(chat.createdAtMs),
    updated_at: toTimestamp(chat.updatedAtMs),
    expires_at: chat.expiresAtMs === null ? null : toTimestamp(chat.expiresAtMs),
  }
}
