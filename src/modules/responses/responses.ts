import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Logger } from '../../kernel/logger.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import type { QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import type { Place } from '../../storage/place.ts'
import { toCompacted, toCompactionRequest } from '../../wires/openai-responses/compaction.ts'
import type {
  CountedResponsesRequest,
  ResponsesRequest,
} from '../../wires/openai-responses/responses-request.ts'
import type { Chat } from '../chat/chat.ts'
import type { InferenceRequest, InferenceResult } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { TaskBus, Tasks, TaskPerformer } from '../tasks/tasks.ts'
import { readKnownResponse, type KnownResponse } from './background-status.ts'
import { sweepConversations } from './conversations/conversation-rows.ts'
import {
  conversationIdOf,
  createItemConversations,
  type ItemConversations,
} from './conversations/item-conversations.ts'
import { createBackground } from './create-background.ts'
import { followResponse } from './follow-response.ts'
import { createHistoryReads, type CountRead } from './history-reads.ts'
import { keepAnswer } from './keep-answer.ts'
import { listInputItems, type ItemPage, type ItemPageRequest } from './list-input-items.ts'
import { chargeLeftResponse, performResponse, type PerformOptions } from './perform-response.ts'
import { deleteResponse, IS_LEFT, readChain } from './read-responses.ts'
import { CHAIN_LENGTH_MAX, needsHistory } from './resolve-input.ts'
import { replayEvents } from './replay-response.ts'
import { createResponseChanges } from './response-changes.ts'
import type { Item } from './response-items.ts'
import { ResponseRoom } from './response-room.ts'
import { ResponseWriter } from './response-writer.ts'

export type { ItemConversations } from './conversations/item-conversations.ts'
export type { ItemPage, ItemPageRequest } from './list-input-items.ts'

/** Responses of OpenAI's wire: created with any chat model, directly or in the background, stored, read, continued. */
export interface Responses {
  create(request: InferenceRequest<ResponsesRequest>): Promise<InferenceResult>
  /** Makes a summary of a conversation, which takes the place of all but the user's messages. */
  compact(request: InferenceRequest<ResponsesRequest>): Promise<InferenceResult>
  readonly conversations: ItemConversations
  read(place: Place, responseId: string): Promise<Item>
  /** Returns the events of a response after the last one that the client has. */
  follow(
    place: Place,
    responseId: string,
    from: { startingAfter: number; cancellation: Cancellation },
  ): Promise<AsyncIterable<readonly Buffer[]>>
  /** Returns the response after the cancellation. A response that has ended stays unchanged. */
  cancel(place: Place, responseId: string): Promise<Item>
  delete(place: Place, responseId: string): Promise<void>
  listInputItems(
    place: Place,
    responseId: string,
    page: ItemPageRequest,
    countRead?: CountRead,
  ): Promise<ItemPage>
  /** Returns the tokens of the prompt, including the responses that it continues. */
  countTokens(caller: Caller, body: CountedResponsesRequest, countRead?: CountRead): Promise<number>
  /** Makes responses in the background. */
  readonly performer: TaskPerformer
}

interface ResponsesOptions extends Pick<PerformOptions, 'inference' | 'keys' | 'limits'> {
  readonly chat: Pick<Chat, 'responses' | 'checkResponse' | 'chargeLostResponse' | 'countResponseTokens'>
  readonly tasks: Pick<Tasks, 'create' | 'cancel'>
  readonly database: Database
  readonly messageBus: TaskBus
  readonly logger: Logger
  readonly quotaOf: QuotaOf
  /** 0 stores nothing. */
  readonly retentionMs: number
  /** Maximum size of a conversation that is read from the store. */
  readonly historyBytesMax: number
}

export function createResponses(options: ResponsesOptions): Responses {
  const { chat, database, retentionMs } = options
  const writer = new ResponseWriter(options)
  const room = new ResponseRoom(options)
  const changes = createResponseChanges(options)
  const conversations = createItemConversations(options)
  const { inTurn, resolve, resolveInBackground } = createHistoryReads({
    database,
    conversations,
    bytesMax: options.historyBytesMax,
  })

  const require = async (place: Place, responseId: string): Promise<KnownResponse> => {
    const known = await readKnownResponse(database, place, responseId)
    if (known === null) throw notFound('response')
    return known
  }

  const follow: Responses['follow'] = async (place, responseId, from) => {
    const { response, isBackground, taskId } = await require(place, responseId)
    // It has its answer already, and no events were stored.
    if (!isBackground || response['background'] !== true)
      return oneBatch(replayEvents(response).slice(from.startingAfter + 1))
    return followResponse({ database, changes }, { place, responseId, taskId, ...from })
  }

  const beginBackground = async (
    request: InferenceRequest<ResponsesRequest>,
    own: ResponsesRequest['input'],
  ): Promise<InferenceResult> => {
    const { caller, body, cancellation } = request
    const id = await createBackground({ ...options, writer, room }, request, own)
    request.record.outcome = 'completed'
    if (body.stream !== true)
      return { kind: 'complete', payload: stringifyJson((await require(caller, id)).response) }
    return {
      kind: 'stream',
      batches: await follow(caller, id, { startingAfter: -1, cancellation }),
    }
  }

  const expand = async (request: InferenceRequest<ResponsesRequest>): Promise<ExpandedRequest> => {
    const { body, caller } = request
    requireStorage(body, retentionMs)
    const { whole, own } = await resolve(caller, body, request.countRead)
    return { own, request: withInput(request, whole) }
  }

  return {
    create: async (asked) => {
      const { body } = asked
      const { accountId, isZeroRetention } = asked.caller
      const isBackground = body.background === true
      const isWanted = retentionMs > 0 && body.store !== false && isZeroRetention !== true && !isBackground
      // Neither step queries the database unless there is something to look up.
      const store = isWanted && (room.isOpen(accountId) || (await hasRoom(room, accountId, body.store)))
      const { request, own } = needsHistory(body) ? await expand(asked) : { request: asked, own: body.input }
      if (isBackground) return beginBackground(request, own)
      const answered = { ...request, body: { ...request.body, store } }
      if (!store && conversationIdOf(body) === null) return chat.responses(answered)
      return keepAnswer({ chat, writer, room, conversations, logger: options.logger }, answered, own)
    },
    compact: async (asked) => {
      const { whole } = needsHistory(asked.body)
        ? await resolve(asked.caller, asked.body, asked.countRead)
        : { whole: asked.body.input }
      if (whole.length === 0)
        throw new AppError('missing_required_parameter', 'There is nothing to compact. Send input.', {
          param: 'input',
        })
      const body = toCompactionRequest(asked.body, whole)
      const text = stringifyJson(body)
      const result = await chat.responses({ ...asked, body, text, bytes: Buffer.byteLength(text) })
      if (result.kind === 'stream') throw new TypeError('a stream came back that was not asked for')
      const { payload } = result
      const response: unknown = JSON.parse(
        typeof payload === 'string' ? payload : Buffer.concat(payload).toString(),
      )
      return {
        kind: 'complete',
        payload: stringifyJson(toCompacted(isRecord(response) ? response : {}, whole)),
      }
    },
    conversations,
    read: async (place, responseId) => (await require(place, responseId)).response,
    follow,
    cancel: async (place, responseId) => {
      const { isBackground, hasEnded, taskId } = await require(place, responseId)
      if (!isBackground) {
        const message = 'Only a response in the background can be cancelled.'
        throw new AppError('invalid_request', message)
      }
      if (!hasEnded && taskId !== null) await cancelTask(options.tasks, place, taskId)
      changes.announce(responseId)
      return (await require(place, responseId)).response
    },
    delete: async (place, responseId) => {
      const { hasEnded, taskId } = await require(place, responseId)
      if (!hasEnded && taskId !== null) await cancelTask(options.tasks, place, taskId)
      await deleteResponse(database, place, responseId)
      changes.announce(responseId)
    },
    listInputItems: async (place, responseId, page, countRead) => {
      const limits = { lengthMax: CHAIN_LENGTH_MAX, bytesMax: options.historyBytesMax, countRead }
      const { links } = await inTurn(place.accountId, () => readChain(database, place, responseId, limits))
      if (links.length === 0) throw notFound('response')
      return listInputItems(links, page)
    },
    countTokens: async (caller, body, countRead) => {
      if (!needsHistory(body)) return chat.countResponseTokens(caller, body)
      requireStorage(body, retentionMs)
      const { whole } = await resolve(caller, body, countRead)
      return chat.countResponseTokens(caller, { ...body, input: whole })
    },
    performer: {
      perform: (task, control) =>
        performResponse({ ...options, conversations, resolve: resolveInBackground, changes }, task, control),
      // There is no job at an upstream to cancel: the cancellation closes its stream.
      cancelJob: async () => {},
      chargeLeft: (task) => chargeLeftResponse({ ...options, resolve: resolveInBackground }, task),
    },
  }
}

async function* oneBatch(events: readonly Buffer[]): AsyncGenerator<readonly Buffer[], void> {
  if (events.length > 0) yield events
}

interface ExpandedRequest {
  readonly request: InferenceRequest<ResponsesRequest>
  readonly own: ResponsesRequest['input']
}

/**
 * Returns whether the response can be stored. Without room, a request that did not ask for storing is served and its response
 * says `store: false`.
 */
async function hasRoom(
  room: ResponseRoom,
  accountId: string,
  store: boolean | null | undefined,
): Promise<boolean> {
  try {
    await room.require(accountId)
    return true
  } catch (error) {
    if (store === true || !(error instanceof AppError) || error.code !== 'rate_limit_exceeded') throw error
    return false
  }
}

/** A task that has just ended stays unchanged. */
async function cancelTask(tasks: Pick<Tasks, 'cancel'>, place: Place, taskId: string): Promise<void> {
  try {
    await tasks.cancel(place, taskId)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'task_not_cancellable') throw error
  }
}

/** Sends the whole conversation to the upstream, without ids that only this gateway knows. */
function withInput(
  request: InferenceRequest<ResponsesRequest>,
  input: ResponsesRequest['input'],
): InferenceRequest<ResponsesRequest> {
  const body = { ...request.body, input }
  const edits = new Map([
    ['input', stringifyJson(input)],
    ['previous_response_id', null],
    ['conversation', null],
  ])
  const text =
    editJsonObject(request.text, edits) ??
    stringifyJson({ ...body, previous_response_id: undefined, conversation: undefined })
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

function requireStorage(body: CountedResponsesRequest, retentionMs: number): void {
  if (retentionMs > 0) return
  const param = typeof body.previous_response_id === 'string' ? 'previous_response_id' : 'input'
  const message =
    'This gateway does not store responses (PARKWAY_RESPONSE_RETENTION_DAYS is 0). Send the whole conversation as input.'
  throw new AppError('unsupported_parameter', message, { param })
}

const BATCH_ROWS = 500
const BATCHES_MAX = 40

/** Deletes expired responses that no other response continues, in small batches. Any process does this for all. */
export async function sweepResponses(database: Database): Promise<number> {
  let deleted = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query(DELETE_BATCH, [BATCH_ROWS])
    deleted += rows.length
    // Deleting these may free the responses that they continued for the next batch.
    if (rows.length === 0) break
  }
  await sweepConversations(database)
  return deleted
}

const DELETE_BATCH = `
  DELETE FROM responses USING (
    SELECT account_id, id FROM responses WHERE expires_at <= now() AND NOT EXISTS (
      SELECT FROM responses AS next WHERE next.account_id = responses.account_id AND next.previous_id = responses.id)
      AND NOT (is_background AND EXISTS (${IS_LEFT}))
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) AS expired
  WHERE responses.account_id = expired.account_id AND responses.id = expired.id
  RETURNING 1 AS one`
