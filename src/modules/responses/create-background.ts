import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { Database } from '../../storage/database.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import { toSnapshot } from '../../wires/openai-responses/response-snapshot.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import type { Chat } from '../chat/chat.ts'
import type { InferenceRequest } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { toBackgroundWork } from './background-work.ts'
import { deleteResponse } from './read-responses.ts'
import type { ResponseRoom } from './response-room.ts'
import type { ResponseWriter } from './response-writer.ts'

interface CreateBackgroundOptions {
  readonly chat: Pick<Chat, 'checkResponse'>
  readonly tasks: Pick<Tasks, 'create'>
  readonly database: Database
  readonly writer: Pick<ResponseWriter, 'writeDurably'>
  readonly room: Pick<ResponseRoom, 'require'>
  readonly retentionMs: number
}

/** Usual duration of a response, for the progress of its task. */
const EXPECTED_MS = 30_000

/** Stores the request and creates a task for it. Returns the id of the response. */
export async function createBackground(
  options: CreateBackgroundOptions,
  request: InferenceRequest<ResponsesRequest>,
  ownInput: ResponsesRequest['input'],
): Promise<string> {
  const { caller, body, requestId, record } = request
  const { accountId } = caller
  requireStored(body, options.retentionMs, caller)
  await options.chat.checkResponse(request)
  await options.room.require(accountId)
  const id = responseIdOf(requestId)
  const asked = { ...body, input: ownInput, store: true }
  const state = { id, createdAt: Math.floor(Date.now() / 1000), status: 'queued' as const }
  const snapshot = toSnapshot(asked, { ...state, incompleteReason: null, output: [], usage: null })
  await options.writer.writeDurably({
    place: caller,
    id,
    previousId: body.previous_response_id ?? null,
    input: stringifyJson(ownInput),
    response: stringifyJson(snapshot),
    itemIds: [],
    isBackground: true,
  })
  try {
    await options.tasks.create({
      caller,
      requestId,
      type: 'response',
      model: record.model ?? body.model,
      requestedModel: body.model,
      work: toBackgroundWork(asked),
      holdNanoUsd: 0n,
      isChargedByCall: true,
      expectedMs: EXPECTED_MS,
      webhookUrl: null,
      metadata: null,
      traceparent: record.traceparent,
    })
  } catch (error) {
    if (!(error instanceof AppError && error.mayBeDone)) await deleteResponse(options.database, caller, id)
    throw error
  }
  record.outcome = 'completed'
  return id
}

function requireStored({ store }: ResponsesRequest, retentionMs: number, { isZeroRetention }: Caller): void {
  if (store === false) throw invalidValue('store', 'A response in the background has to be stored.')
  if (isZeroRetention === true)
    throw new AppError(
      'unsupported_parameter',
      'A response in the background has to be stored, and zero_data_retention forbids that.',
      { param: 'background' },
    )
  if (retentionMs > 0) return
  const message =
    'This gateway does not store responses (PARKWAY_RESPONSE_RETENTION_DAYS is 0), so none can be made in the background.'
  throw new AppError('unsupported_parameter', message, { param: 'background' })
}
