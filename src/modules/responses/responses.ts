import { AppError, notFound } from '../../kernel/app-error.ts'
import { editJsonObject } from '../../kernel/edit-json-object.ts'
import type { Logger } from '../../kernel/logger.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import type { QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import type { Chat, InferenceResult } from '../chat/chat.ts'
import type { InferenceRequest } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import { keepAnswer } from './keep-answer.ts'
import { listInputItems, type ItemPage, type ItemPageRequest } from './list-input-items.ts'
import { deleteResponse, readChain, readResponse } from './read-responses.ts'
import { CHAIN_LENGTH_MAX, needsHistory, resolveInput } from './resolve-input.ts'
import { ResponseRoom } from './response-room.ts'
import { ResponseWriter } from './response-writer.ts'

export { sweepResponses } from './sweep-responses.ts'

/** Responses of OpenAI's wire: asked of any chat model, stored, read, continued. */
export interface Responses {
  create(request: InferenceRequest<ResponsesRequest>): Promise<InferenceResult>
  /** The response object as JSON. */
  read(accountId: string, responseId: string): Promise<string>
  delete(accountId: string, responseId: string): Promise<void>
  listInputItems(accountId: string, responseId: string, page: ItemPageRequest): Promise<ItemPage>
  /** Tokens of the prompt, with those of the responses that it continues. */
  countTokens(caller: Caller, body: ResponsesRequest): Promise<number>
}

interface ResponsesOptions {
  readonly chat: Pick<Chat, 'responses' | 'countResponseTokens'>
  readonly database: Database
  readonly logger: Logger
  readonly quotaOf: QuotaOf
  /** 0 stores nothing. */
  readonly retentionMs: number
  /** Of a conversation that is read from the store. */
  readonly historyBytesMax: number
}

export function createResponses(options: ResponsesOptions): Responses {
  const { chat, database, retentionMs } = options
  const writer = new ResponseWriter(options)
  const room = new ResponseRoom(options)
  const resolving = { database, bytesMax: options.historyBytesMax }

  const decideStore = async (accountId: string, store: boolean | null | undefined): Promise<boolean> => {
    try {
      await room.require(accountId)
      return true
    } catch (error) {
      // Who did not ask for it is served, and told that nothing was stored.
      if (store === true || !(error instanceof AppError) || error.code !== 'rate_limit_exceeded') throw error
      return false
    }
  }

  const expand = async (
    request: InferenceRequest<ResponsesRequest>,
  ): Promise<{ request: InferenceRequest<ResponsesRequest>; own: ResponsesRequest['input'] }> => {
    const { body, caller } = request
    requireStorage(body, retentionMs)
    const { whole, own } = await resolveInput(resolving, caller.accountId, body)
    return { own, request: withInput(request, whole) }
  }

  const create: Responses['create'] = async (asked) => {
    const { body, caller } = asked
    const { accountId } = caller
    const isWanted = retentionMs > 0 && body.store !== false
    // Neither waits for the database unless there is something to look up in it.
    const store = isWanted && (room.isOpen(accountId) || (await decideStore(accountId, body.store)))
    const { request, own } = needsHistory(body) ? await expand(asked) : { request: asked, own: body.input }
    const answered = { ...request, body: { ...request.body, store } }
    if (!store) return chat.responses(answered)
    return keepAnswer({ chat, writer, room, logger: options.logger }, answered, own)
  }

  const readLinks = async (accountId: string, responseId: string) => {
    const limits = { lengthMax: CHAIN_LENGTH_MAX, bytesMax: options.historyBytesMax }
    const { links } = await readChain(database, accountId, responseId, limits)
    if (links.length === 0) throw notFound('response')
    return links
  }

  return {
    create,
    read: async (accountId, responseId) => {
      const found = await readResponse(database, accountId, responseId)
      if (found === null) throw notFound('response')
      return found.response
    },
    delete: async (accountId, responseId) => {
      if (!(await deleteResponse(database, accountId, responseId))) throw notFound('response')
    },
    listInputItems: async (accountId, responseId, page) =>
      listInputItems(await readLinks(accountId, responseId), page),
    countTokens: async (caller, body) => {
      if (!needsHistory(body)) return chat.countResponseTokens(caller, body)
      requireStorage(body, retentionMs)
      const { whole } = await resolveInput(resolving, caller.accountId, body)
      return chat.countResponseTokens(caller, { ...body, input: whole })
    },
  }
}

/** An upstream is given the whole conversation, and nothing of what only this gateway knows. */
function withInput(
  request: InferenceRequest<ResponsesRequest>,
  input: ResponsesRequest['input'],
): InferenceRequest<ResponsesRequest> {
  const body = { ...request.body, input }
  const edits = new Map([
    ['input', stringifyJson(input)],
    ['previous_response_id', null],
  ])
  const text =
    editJsonObject(request.text, edits) ?? stringifyJson({ ...body, previous_response_id: undefined })
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

function requireStorage(body: ResponsesRequest, retentionMs: number): void {
  if (retentionMs > 0) return
  const param = typeof body.previous_response_id === 'string' ? 'previous_response_id' : 'input'
  const message =
    'This gateway does not store responses (PARKWAY_RESPONSE_RETENTION_DAYS is 0). Send the whole conversation as input.'
  throw new AppError('unsupported_parameter', message, { param })
}
