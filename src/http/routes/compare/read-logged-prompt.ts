import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { PromptCase } from '../../../modules/compare/compare.ts'
import { CountTokensRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import { toChatPrompt } from '../../../wires/anthropic-messages/to-chat-request.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { ResponsesRequest } from '../../../wires/openai-responses/responses-request.ts'
import { toChatRequest } from '../../../wires/openai-responses/to-chat-request.ts'
import { requireStorable } from '../../bodies/parse-body.ts'
import { compileCheck } from '../../bodies/validate.ts'

const ChatPrompt = Type.Object({ messages: ChatRequest.properties.messages })
const checkChat: (value: unknown) => asserts value is Static<typeof ChatPrompt> = compileCheck(ChatPrompt)
const checkMessages: (value: unknown) => asserts value is CountTokensRequest =
  compileCheck(CountTokensRequest)
const checkResponses: (value: unknown) => asserts value is ResponsesRequest = compileCheck(ResponsesRequest)

/** In place of media, which are not stored. */
export const MEDIA_LEFT_OUT = 'characters of media left out]'

/** Returns the messages of a stored body of a chat, of any wire. Null if it has none, or not all of them. */
export function readLoggedPrompt(operation: string, text: string): PromptCase | null {
  return text.includes(MEDIA_LEFT_OUT) ? null : readPrompt(operation, () => parseJson(text))
}

/** Returns the messages of a body. Null if it has none. */
export function readPrompt(operation: string, read: () => unknown): PromptCase | null {
  const readMessages = READERS.get(operation)
  if (readMessages === undefined) return null
  try {
    const prompt = { messages: readMessages(read()) }
    checkChat(prompt)
    for (const part of stringsOf(prompt.messages)) requireStorable('messages', part)
    return { id: null, messages: prompt.messages, expected: null }
  } catch (error) {
    // A body that this release cannot read is left out, and does not keep the others out.
    if (error instanceof AppError || error instanceof SyntaxError) return null
    throw error
  }
}

const READERS: ReadonlyMap<string, (body: unknown) => unknown> = new Map([
  ['chat', (body: unknown) => (isRecord(body) ? body['messages'] : null)],
  [
    'messages',
    (body: unknown) => {
      checkMessages(body)
      return toChatPrompt(body).messages
    },
  ],
  [
    'responses',
    (body: unknown) => {
      checkResponses(body)
      // What was said before is not in the body.
      if (body.previous_response_id || body.conversation) return null
      return toChatRequest(body).body.messages
    },
  ],
])

function* stringsOf(value: unknown): Generator<string, void> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      yield name
      yield* stringsOf(member)
    }
}
