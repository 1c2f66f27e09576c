import type { PlaygroundSearch } from '../playground-search.ts'
import type { ChatMessage } from './chat-state.ts'

/** Builds the request from the conversation and the parameters. Throws if a parameter is not valid JSON. */
export function buildChatBody(
  model: string,
  messages: readonly ChatMessage[],
  search: PlaygroundSearch,
): Record<string, unknown> {
  const { system, temperature, top_p, max_tokens, effort, tools, schema } = search
  return {
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...messages.flatMap(toWire)],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(max_tokens !== undefined && { max_tokens }),
    ...(effort && { reasoning_effort: effort }),
    ...(tools && { tools: parseJson('The tools', tools) }),
    ...(schema && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: parseJson('The schema', schema), strict: true },
      },
    }),
  }
}

function toWire(message: ChatMessage): object[] {
  if (message.role === 'user') {
    if (message.images.length === 0) return [{ role: 'user', content: message.text }]
    const pictures = message.images.map((url) => ({ type: 'image_url', image_url: { url } }))
    return [{ role: 'user', content: [{ type: 'text', text: message.text }, ...pictures] }]
  }
  if (message.text === '' && message.toolCalls.length === 0) return []
  const calls = message.toolCalls.map(({ id, name, argumentsText }) => ({
    id,
    type: 'function',
    function: { name, arguments: argumentsText },
  }))
  return [
    { role: 'assistant', content: message.text, ...(calls.length > 0 && { tool_calls: calls }) },
    ...message.toolCalls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result ?? '' })),
  ]
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} are not valid JSON.`)
  }
}
