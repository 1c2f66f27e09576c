import { isRecord } from '../../kernel/is-record.ts'
import type { ResponsesRequest } from './responses-request.ts'

export interface ResponseUsage {
  readonly input_tokens: number
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number }
  readonly total_tokens: number
}

/** The members of a response that change while it is built. */
export interface ResponseState {
  readonly id: string
  readonly createdAt: number
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete'
  readonly incompleteReason: string | null
  readonly output: readonly object[]
  readonly usage: ResponseUsage | null
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'incomplete'])

/** Returns the response object with the settings of its request. */
export function toSnapshot(request: ResponsesRequest, state: ResponseState): object {
  const { reasoning, text } = request
  return {
    id: state.id,
    object: 'response',
    access_programs: null,
    created_at: state.createdAt,
    status: state.status,
    background: request.background === true,
    ...toShownConversation(request.conversation),
    completed_at: ENDED.has(state.status) ? state.createdAt : null,
    error: null,
    incomplete_details: state.incompleteReason === null ? null : { reason: state.incompleteReason },
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: null,
    model: request.model,
    output: state.output,
    presence_penalty: 0,
    frequency_penalty: 0,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: request.store === true,
    temperature: request.temperature ?? 1,
    text: { format: text?.format ?? { type: 'text' }, verbosity: text?.verbosity ?? 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: (request.tools ?? []).map(toShownTool),
    top_logprobs: 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    usage: state.usage,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  }
}

/** Returns the member with the conversation that a response continues. Other responses do not have it. */
export function toShownConversation(given: ResponsesRequest['conversation']): object {
  if (given === undefined || given === null) return {}
  return { conversation: { id: typeof given === 'string' ? given : given.id } }
}

/** Adds the missing members of a function, as the Open Responses specification requires. */
function toShownTool(tool: object): object {
  const isFunction = 'type' in tool && tool.type === 'function'
  return isFunction ? { description: null, parameters: null, strict: null, ...tool } : tool
}

/** Converts the usage object of the chat format. Null if there is none. */
export function toResponseUsage(usage: unknown): ResponseUsage | null {
  if (!isRecord(usage)) return null
  const prompt = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const completion = isRecord(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  const input = count(usage['prompt_tokens'])
  const output = count(usage['completion_tokens'])
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: count(prompt['cached_tokens']),
      cache_write_tokens: count(prompt['cache_write_tokens']),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: count(completion['reasoning_tokens']) },
    total_tokens: input + output,
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
