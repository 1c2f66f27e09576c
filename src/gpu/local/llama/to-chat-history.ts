import type { ChatHistoryItem, ChatModelFunctionCall, ChatModelResponse } from 'node-llama-cpp'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { ChatMessage } from './chat-request.ts'
import { invalidRequest } from './engine-error.ts'

/** Converts messages to the history of the chat wrapper. The last item is the answer to generate. */
export function toChatHistory(messages: readonly ChatMessage[]): ChatHistoryItem[] {
  const history: ChatHistoryItem[] = []
  const calls = new Map<string, ChatModelFunctionCall>()
  for (const [index, message] of messages.entries()) {
    const text = textOf(message, index)
    const { role } = message
    if (role === 'system' || role === 'developer') history.push({ type: 'system', text })
    else if (role === 'user') history.push({ type: 'user', text })
    else if (role === 'assistant') {
      const answer = openAnswer(history)
      if (text !== '') answer.response.push(text)
      for (const call of message.tool_calls ?? []) {
        const known: ChatModelFunctionCall = {
          type: 'functionCall',
          name: call.function.name,
          params: parseArguments(call.function.arguments, index),
          result: null,
        }
        calls.set(call.id, known)
        answer.response.push(known)
      }
    } else {
      const call = calls.get(message.tool_call_id ?? '')
      if (call === undefined)
        throw invalidRequest(
          `messages.${index}.tool_call_id`,
          'No tool call before this message has this id.',
        )
      call.result = text
    }
  }
  // After a tool result, the model continues its previous answer. Otherwise this appends an empty one.
  openAnswer(history)
  return history
}

function openAnswer(history: ChatHistoryItem[]): ChatModelResponse {
  const last = history.at(-1)
  if (last?.type === 'model') return last
  const answer: ChatModelResponse = { type: 'model', response: [] }
  history.push(answer)
  return answer
}

function textOf({ content }: ChatMessage, index: number): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  return content
    .map(({ type, text }) => {
      if (text === undefined || (type !== 'text' && type !== 'input_text'))
        throw invalidRequest(`messages.${index}.content`, 'This engine reads text only.')
      return text
    })
    .join('')
}

function parseArguments(text: string, index: number): unknown {
  if (text.trim() === '') return {}
  try {
    return parseJson(text)
  } catch {
    throw invalidRequest(`messages.${index}.tool_calls`, 'The arguments of a tool call must be JSON.')
  }
}
