import { createReadStream } from 'node:fs'
import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { BatchName, Batches } from '../../../modules/batches/batches.ts'
import { messagesWire } from '../../../wires/anthropic-messages/messages-wire.ts'
import { orNull } from '../../../wires/nullable.ts'
import { messageBatchIdOf, uuidOfMessageBatch } from '../../../wires/openai-files/batch-id.ts'
import { Id } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { sendPieces } from '../../answers/send-pieces.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { MessageBatch, messageBatchToWire } from './message-batch-wire.ts'

const REQUESTS_MAX = 100_000
/** As Anthropic's. */
const BODY_BYTES_MAX = 256 * 1024 * 1024
const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

const MessageBatchBody = Type.Object(
  {
    requests: Type.Array(
      Type.Object({
        custom_id: Type.String({
          pattern: '^[a-zA-Z0-9_-]{1,64}$',
          description: 'Names the request among the results. Unique in the batch.',
        }),
        params: Type.Record(Type.String(), Type.Unknown(), {
          description: 'The body of `POST /v1/messages`.',
        }),
      }),
      { minItems: 1, maxItems: REQUESTS_MAX, description: 'The requests.' },
    ),
  },
  {
    title: 'MessageBatchRequest',
    examples: [
      {
        requests: [
          {
            custom_id: 'first',
            params: {
              model: 'claude-sonnet-5',
              max_tokens: 64,
              messages: [{ role: 'user', content: 'Why is the sky blue?' }],
            },
          },
        ],
      },
    ],
  },
)

const MessageBatchesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: 'How many at most.',
    }),
  ),
  after_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'The id of a batch; those behind it follow.' }),
  ),
  before_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'The id of a batch; those before it are listed.' }),
  ),
})

const MessageBatchList = Type.Object(
  {
    data: Type.Array(MessageBatch, { description: 'The batches, newest first.' }),
    has_more: Type.Boolean({ description: 'Whether there is a further page in this direction.' }),
    first_id: orNull(Type.String(), 'Of the first batch of this page.'),
    last_id: orNull(Type.String(), 'Of the last batch of this page.'),
  },
  { title: 'MessageBatchList' },
)

const Deleted = Type.Object({
  id: Id,
  type: Type.Literal('message_batch_deleted', { description: 'What kind of object this is.' }),
})

const Params = Type.Object({ id: Type.String({ maxLength: 256, description: 'The id of a batch.' }) })

interface MessageBatchRouteOptions {
  readonly batches: Batches
  /** The configured address of the gateway for clients. */
  readonly publicUrl: string | null
  readonly logger: Logger
}

const AT = '/v1/messages/batches'
const shared = { tag: 'Batches', access: inProject('models.use'), wire: messagesWire } as const

/** Many messages in one request, asked in the background, in Anthropic's form. */
export const messageBatchRoutes = ({ batches, publicUrl, logger }: MessageBatchRouteOptions): Route[] => {
  const baseOf = ({ headers }: Pick<RouteRequest<unknown, unknown, unknown>, 'headers'>): string =>
    publicUrl?.replace(/\/+$/, '') ?? baseUrlOf(headers)
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: AT,
      summary: 'Make a batch of messages',
      takesTags: 'header',
      isChargedByCall: true,
      otherErrors: [409, 429],
      body: MessageBatchBody,
      spooledBodyBytesMax: BODY_BYTES_MAX,
      responses: { 200: { description: 'The batch.', schema: MessageBatch } },
      handle: async ({ caller, files: [file], headers }) => {
        if (file === undefined) throw new Error('the body was not written to disk')
        const body = createReadStream(file.path)
        return messageBatchToWire(await batches.createOfMessages(caller, body), baseOf({ headers }))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: AT,
      summary: 'List batches of messages',
      query: MessageBatchesQuery,
      responses: { 200: { description: 'Newest first.', schema: MessageBatchList } },
      handle: async ({ caller, query, headers }) => {
        const { limit = LIMIT_DEFAULT } = query
        const afterId = readCursor('after_id', query.after_id)
        const beforeId = readCursor('before_id', query.before_id)
        const { items, hasMore } = await batches.list(
          caller,
          { wire: 'messages' },
          { limit, afterId, beforeId },
        )
        const idOf = (index: number): string | null => {
          const batch = items.at(index)
          return batch === undefined ? null : messageBatchIdOf(batch.id)
        }
        return {
          data: items.map((batch) => messageBatchToWire(batch, baseOf({ headers }))),
          has_more: hasMore,
          first_id: idOf(0),
          last_id: idOf(-1),
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/:id`,
      summary: 'Read a batch of messages',
      params: Params,
      responses: { 200: { description: 'The batch as it is now.', schema: MessageBatch } },
      handle: async ({ caller, params, headers }) =>
        messageBatchToWire(await batches.read(caller, nameOf(params)), baseOf({ headers })),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${AT}/:id/cancel`,
      summary: 'Cancel a batch of messages',
      otherErrors: [409],
      params: Params,
      responses: { 200: { description: 'The batch. What runs may end.', schema: MessageBatch } },
      handle: async ({ caller, params, headers }) =>
        messageBatchToWire(await batches.cancel(caller, nameOf(params)), baseOf({ headers })),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: `${AT}/:id`,
      summary: 'Delete a batch of messages',
      otherErrors: [409],
      params: Params,
      responses: { 200: { description: 'It is gone, with its results.', schema: Deleted } },
      handle: async ({ caller, params }) => {
        await batches.delete(caller, nameOf(params))
        return { id: params.id, type: 'message_batch_deleted' }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/:id/results`,
      summary: 'Read the results of a batch of messages',
      otherErrors: [503],
      params: Params,
      responses: {
        200: {
          description: 'A result a line, in any order.',
          contentType: 'application/x-jsonl',
          schema: Type.String(),
        },
      },
      handle: async ({ caller, params, reply, exchange }) => {
        const batch = await batches.read(caller, nameOf(params))
        const { results_url: url, processing_status: status } = messageBatchToWire(batch, '')
        if (url === null) throw notFound(status === 'ended' ? 'results' : 'results yet')
        const pieces = await batches.readMessageResults(caller, batch)
        await sendPieces(reply, {
          name: `${params.id}.jsonl`,
          contentType: 'application/x-jsonl',
          pieces,
          logger,
          cancellation: exchange.cancellation,
        })
      },
    }),
  ]
}

function readCursor(name: string, text: string | undefined): string | null {
  const id = text === undefined ? null : uuidOfMessageBatch(text)
  if (text !== undefined && id === null) throw invalidValue(name, `${name} must be the id of a batch.`)
  return id
}

function nameOf({ id }: Static<typeof Params>): BatchName {
  const uuid = uuidOfMessageBatch(id)
  if (uuid === null) throw notFound('batch')
  return { id: uuid, wire: 'messages' }
}
