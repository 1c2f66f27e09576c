import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../openai-chat/chat-request.ts'
import { toPlainMessages } from '../plain-messages.ts'
import type { CountTokensRequest, MessagesRequest } from './messages-request.ts'
import { nativeOnly } from './native-only.ts'
import { toChatMessages, toSystemMessages } from './to-chat-messages.ts'
import { toChatTools } from './to-chat-tools.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'
import { translateOnce } from '../translate-once.ts'

/** A request in the gateway's chat format. */
export interface TranslatedRequest {
  /** With all extensions: cache marks, signed reasoning and reasoning effort. */
  readonly body: ChatRequest
  /** The same as JSON, without the members that an upstream of this wire would refuse as unknown. */
  readonly text: string
}

/** Members that make Anthropic's servers do extra work. Other unknown members are dropped. */
const NATIVE_MEMBERS = lookupTable<string>({
  container: 'A container',
  mcp_servers: 'An MCP server',
})

export const toChatRequest = translateOnce(translate)

function translate(request: MessagesRequest): TranslatedRequest {
  let text: string | null = null
  for (const [name, what] of Object.entries(NATIVE_MEMBERS)) {
    const value = Reflect.get(request, name)
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
    if (!isEmpty) throw nativeOnly(name, what)
  }
  const { max_tokens: maxTokens, stop_sequences: stop, temperature, top_p: topP, metadata, stream } = request
  const prompt = toChatPrompt(request)
  const plain: ChatRequest = {
    ...prompt,
    max_tokens: maxTokens,
    ...(stop && stop.length > 0 ? { stop } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { top_p: topP } : {}),
    ...(typeof metadata?.user_id === 'string' ? { user: metadata.user_id } : {}),
    ...(stream === true ? { stream, stream_options: { include_usage: true } } : {}),
  }
  const effort = effortOf(request)
  return {
    body: { ...plain, ...(effort === null ? {} : { reasoning_effort: effort }) },
    // Written only if it is sent: most requests are translated for estimates.
    get text() {
      text ??= stringifyJson({ ...plain, messages: toPlainMessages(plain.messages) })
      return text
    },
  }
}

/** Returns the part of a request that the model reads and whose tokens are counted. */
export function toChatPrompt(request: CountTokensRequest): ChatRequest {
  const { model, messages, system, thinking, output_config: output } = request
  const format = output?.format
  return {
    model,
    messages: [...toSystemMessages(system), ...toChatMessages(messages)],
    ...toChatTools(request),
    ...(thinking ? { think: thinking.type !== 'disabled' } : {}),
    ...(format
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'answer', schema: format.schema, strict: true },
          },
        }
      : {}),
  }
}

const LOW_BUDGET_MAX = 4_096
const MEDIUM_BUDGET_MAX = 16_384

function effortOf({ thinking, output_config: output }: MessagesRequest): string | null {
  if (thinking?.type === 'disabled') return null
  if (typeof output?.effort === 'string') return output.effort
  const budget = thinking?.budget_tokens
  if (typeof budget !== 'number') return null
  if (budget <= LOW_BUDGET_MAX) return 'low'
  return budget <= MEDIUM_BUDGET_MAX ? 'medium' : 'high'
}
