import type { Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { StoredBody } from '../../../modules/request-log/request-log.ts'
import { MessagesRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import { toChatRequest as messagesToChat } from '../../../wires/anthropic-messages/to-chat-request.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { ResponsesRequest } from '../../../wires/openai-responses/responses-request.ts'
import { toChatRequest as responsesToChat } from '../../../wires/openai-responses/to-chat-request.ts'
import { compileCheck } from '../../bodies/validate.ts'
import { MEDIA_LEFT_OUT } from '../compare/read-logged-prompt.ts'

const checkChat: (value: unknown) => asserts value is Static<typeof ChatRequest> = compileCheck(ChatRequest)
const checkMessages: (value: unknown) => asserts value is MessagesRequest = compileCheck(MessagesRequest)
const checkResponses: (value: unknown) => asserts value is ResponsesRequest = compileCheck(ResponsesRequest)

/** What belongs to the request that was sent, and not to what it asked the model. */
const LEFT_OUT = new Set([
  'model',
  'stream',
  'stream_options',
  'store',
  'metadata',
  'user',
  'safety_identifier',
])

/** Makes a chat of the stored body of a request of any wire that writes text. Throws `conflict` with the reason if that is not possible. */
export function toReplayedChat(operation: string, { text, isCut }: StoredBody, model: string): ChatRequest {
  const read = READERS.get(operation)
  if (read === undefined) throw cannotReplay(`it is no chat, but '${operation}'`)
  if (isCut) throw cannotReplay('its stored body is cut')
  if (text.includes(MEDIA_LEFT_OUT)) throw cannotReplay('the media in its body are not stored')
  const plain = read(parseJson(text))
  if (!isRecord(plain)) throw cannotReplay('its body is no object')
  const members = Object.entries(plain).filter(([name]) => !LEFT_OUT.has(name))
  const body = { ...Object.fromEntries(members), model }
  checkChat(body)
  return body
}

const READERS: ReadonlyMap<string, (body: unknown) => unknown> = new Map([
  ['chat', (body: unknown) => body],
  [
    'messages',
    (body: unknown) => {
      checkMessages(body)
      return parseJson(messagesToChat(body).text)
    },
  ],
  [
    'responses',
    (body: unknown) => {
      checkResponses(body)
      if (body.previous_response_id || body.conversation)
        throw cannotReplay('what was said before it is not in its body')
      return parseJson(responsesToChat(body).text)
    },
  ],
])

function cannotReplay(reason: string): AppError {
  return new AppError('conflict', `This request cannot be replayed: ${reason}.`)
}
