import { isRecord } from '../../kernel/is-record.ts'
import type { Logger } from '../../kernel/logger.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import type { Chat } from '../chat/chat.ts'
import type { InferenceRequest, InferenceResult } from '../inference/inference.ts'
import { conversationIdOf, type ItemConversations } from './conversations/item-conversations.ts'
import { toItems } from './resolve-input.ts'
import { listItemIds } from './response-items.ts'
import type { ResponseRoom } from './response-room.ts'
import type { ResponseWriter } from './response-writer.ts'

interface KeepOptions {
  readonly chat: Pick<Chat, 'responses'>
  readonly writer: Pick<ResponseWriter, 'write'>
  readonly room: Pick<ResponseRoom, 'noteStored'>
  readonly conversations: Pick<ItemConversations, 'addAnswered'>
  readonly logger: Logger
}

/** After this time the end of the answer is sent without waiting for the database. */
const WAIT_MS_MAX = 2_000

/**
 * Calls the model and stores its answer once it is charged, so that a client that has the end of the answer can read and continue
 * it from any process. An answer that was cut off, or whose client left, is not stored.
 */
export async function keepAnswer(
  options: KeepOptions,
  request: InferenceRequest<ResponsesRequest>,
  ownInput: ResponsesRequest['input'],
): Promise<InferenceResult> {
  const keep = (response: string, output: unknown): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS_MAX)
      void store(options, request, { ownInput, response, output }).then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  const keepEnd = async (last: readonly Buffer[]): Promise<void> => {
    const event: unknown = JSON.parse(last.at(-1)?.toString() ?? 'null')
    const response = isRecord(event) ? event['response'] : null
    if (isRecord(response)) await keep(stringifyJson(response), response['output'])
  }
  const result = await options.chat.responses({ ...request, keepEnd })
  if (result.kind === 'stream' || request.cancellation.isCancelled) return result
  const text = typeof result.payload === 'string' ? result.payload : Buffer.concat(result.payload).toString()
  const response: unknown = JSON.parse(text)
  if (isRecord(response)) await keep(text, response['output'])
  return result
}

interface Answered {
  readonly ownInput: ResponsesRequest['input']
  readonly response: string
  readonly output: unknown
}

/** Never rejects: the answer is charged and is sent even if storing it fails. */
async function store(
  { writer, room, conversations, logger }: KeepOptions,
  { caller, body, requestId }: InferenceRequest<ResponsesRequest>,
  { ownInput, response, output }: Answered,
): Promise<void> {
  const { accountId } = caller
  const items = Array.isArray(output) ? output.filter(isRecord) : []
  const conversationId = conversationIdOf(body)
  try {
    if (conversationId !== null)
      await conversations.addAnswered(caller, conversationId, [...toItems(ownInput), ...items])
    if (body.store !== true) return
    const storedBytes = await writer.write({
      place: caller,
      id: responseIdOf(requestId),
      previousId: body.previous_response_id ?? null,
      input: stringifyJson(ownInput),
      response,
      itemIds: listItemIds(items),
      isBackground: false,
    })
    await room.noteStored(accountId, storedBytes)
  } catch (error) {
    logger.warn({ err: error, requestId }, 'a response was not stored')
  }
}
