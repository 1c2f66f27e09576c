import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../openai-chat/chat-request.ts'
import { toPlainMessages } from '../plain-messages.ts'
import { Untranslatable } from '../untranslatable.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { toChatMessages } from './to-chat-messages.ts'
import { readTools, type ToolNames } from './tool-names.ts'
import { translateOnce } from '../translate-once.ts'

export interface TranslatedRequest {
  /** With all extensions of the chat format: signed reasoning and reasoning effort. */
  readonly body: ChatRequest
  /** The same as JSON, without the members that an upstream of that wire would refuse as unknown. */
  readonly text: string
  readonly tools: ToolNames
}

/** Members that refer to objects stored at OpenAI. */
const UNSUPPORTED = ['prompt'] as const

export const toChatRequest = translateOnce(translate)

function translate(request: ResponsesRequest): TranslatedRequest {
  let text: string | null = null
  for (const name of UNSUPPORTED) {
    const value: unknown = Reflect.get(request, name)
    if (value !== undefined && value !== null && value !== false)
      throw new AppError('unsupported_parameter', `'${name}' is not supported yet.`, { param: name })
  }
  const tools = readTools(request.tools ?? [])
  const { instructions, input, reasoning, stream } = request
  const plain: ChatRequest = {
    model: request.model,
    messages: [
      ...(instructions ? [{ role: 'system' as const, content: instructions }] : []),
      ...toChatMessages(input, tools),
    ],
    ...(tools.tools.length > 0 ? { tools: [...tools.tools], ...toChoice(request, tools) } : {}),
    ...toFormat(request),
    ...(typeof request.max_output_tokens === 'number' ? { max_tokens: request.max_output_tokens } : {}),
    ...(typeof request.temperature === 'number' ? { temperature: request.temperature } : {}),
    ...(typeof request.top_p === 'number' ? { top_p: request.top_p } : {}),
    ...(typeof request.user === 'string' ? { user: request.user } : {}),
    ...(reasoning?.effort ? { think: reasoning.effort !== 'none' } : {}),
    ...(stream === true ? { stream, stream_options: { include_usage: true } } : {}),
  }
  return {
    body: { ...plain, ...(reasoning?.effort ? { reasoning_effort: reasoning.effort } : {}) },
    // Written only if it is sent: most requests are translated for estimates.
    get text() {
      text ??= stringifyJson({ ...plain, messages: toPlainMessages(plain.messages) })
      return text
    },
    tools,
  }
}

type ChoiceMembers = Pick<ChatRequest, 'tool_choice' | 'parallel_tool_calls'>

function toChoice(
  { tool_choice: choice, parallel_tool_calls: parallel }: ResponsesRequest,
  tools: ToolNames,
): ChoiceMembers {
  const together = parallel === false ? { parallel_tool_calls: false } : {}
  if (!choice) return together
  if (typeof choice === 'string') return { tool_choice: choice, ...together }
  const { type, name, namespace } = { name: undefined, namespace: undefined, ...choice }
  if ((type === 'function' || type === 'custom') && typeof name === 'string') {
    const called = tools.nameOf({ name, namespace: typeof namespace === 'string' ? namespace : null })
    return { tool_choice: { type: 'function', function: { name: called } }, ...together }
  }
  if (type === 'allowed_tools') return { tool_choice: toAllowed(choice, tools), ...together }
  throw new Untranslatable(
    `The choice ${JSON.stringify(type)} cannot be made with this model.`,
    'tool_choice.type',
  )
}

function toAllowed(choice: object, tools: ToolNames): NonNullable<ChatRequest['tool_choice']> {
  const { mode, tools: named } = { mode: undefined, tools: undefined, ...choice }
  const allowed: readonly unknown[] = Array.isArray(named) ? named : []
  const functions = allowed.filter(isRecord).map(({ name, namespace }) => ({
    type: 'function',
    function: {
      name: tools.nameOf({ name: String(name), namespace: typeof namespace === 'string' ? namespace : null }),
    },
  }))
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: mode === 'required' ? 'required' : 'auto', tools: functions },
  }
}

function toFormat({ text }: ResponsesRequest): Pick<ChatRequest, 'response_format'> & { verbosity?: string } {
  const verbosity = typeof text?.verbosity === 'string' ? { verbosity: text.verbosity } : {}
  const format: unknown = text?.format
  if (!isRecord(format) || format['type'] === 'text') return verbosity
  if (format['type'] === 'json_object') return { response_format: { type: 'json_object' }, ...verbosity }
  const { name, schema, strict, description } = format
  if (format['type'] !== 'json_schema' || !isRecord(schema)) {
    throw new AppError('invalid_value', 'text.format must be text, json_object or json_schema.', {
      param: 'text.format',
    })
  }
  return {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: typeof name === 'string' && name !== '' ? name : 'answer',
        schema,
        ...(typeof strict === 'boolean' ? { strict } : {}),
        ...(typeof description === 'string' ? { description } : {}),
      },
    },
    ...verbosity,
  }
}
