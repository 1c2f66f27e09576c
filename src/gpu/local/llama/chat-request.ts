import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { EngineError, invalidRequest } from './engine-error.ts'

const MESSAGES_MAX = 10_000
const TOOLS_MAX = 128
const STOPS_MAX = 16
const STOP_LENGTH_MAX = 1_000

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

const Part = Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })
const Content = Type.Union([Type.String(), Type.Array(Part), Type.Null()])
const ToolCall = Type.Object({
  id: Type.String(),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})
const Message = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Type.Optional(Content),
  tool_calls: Nullable(Type.Array(ToolCall)),
  tool_call_id: Nullable(Type.String()),
})
const Schema = Type.Record(Type.String(), Type.Unknown())
const Tool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }),
    description: Nullable(Type.String()),
    parameters: Nullable(Schema),
  }),
})
const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
])
const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Enum(['text', 'json_object']) }),
  Type.Object({ type: Type.Literal('json_schema'), json_schema: Type.Object({ schema: Schema }) }),
])
const Tokens = Type.Integer({ minimum: 1 })

const ChatRequest = Type.Object({
  messages: Type.Array(Message, { minItems: 1, maxItems: MESSAGES_MAX }),
  stream: Nullable(Type.Boolean()),
  stream_options: Nullable(Type.Object({ include_usage: Nullable(Type.Boolean()) })),
  max_tokens: Nullable(Tokens),
  max_completion_tokens: Nullable(Tokens),
  temperature: Nullable(Type.Number({ minimum: 0, maximum: 10 })),
  top_p: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Nullable(Type.Integer({ minimum: -1 })),
  min_p: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
  seed: Nullable(Type.Integer()),
  frequency_penalty: Nullable(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: Nullable(Type.Number({ minimum: -2, maximum: 2 })),
  stop: Nullable(
    Type.Union([
      Type.String({ maxLength: STOP_LENGTH_MAX }),
      Type.Array(Type.String({ maxLength: STOP_LENGTH_MAX }), { maxItems: STOPS_MAX }),
    ]),
  ),
  tools: Nullable(Type.Array(Tool, { maxItems: TOOLS_MAX })),
  tool_choice: Nullable(ToolChoice),
  parallel_tool_calls: Nullable(Type.Boolean()),
  response_format: Nullable(ResponseFormat),
  n: Nullable(Type.Integer({ minimum: 1 })),
  logprobs: Nullable(Type.Boolean()),
})
export type ChatRequest = Static<typeof ChatRequest>
export type ChatMessage = Static<typeof Message>
export type ChatTool = Static<typeof Tool>

/** Parses a chat request. Throws an error for the client if the body is invalid or uses an unsupported option. */
export function parseChatRequest(body: unknown): ChatRequest {
  if (!Value.Check(ChatRequest, body)) throw firstProblem(body)
  if ((body.n ?? 1) > 1) throw invalidRequest('n', 'This engine gives one choice.')
  if (body.logprobs === true) throw invalidRequest('logprobs', 'This engine tells no log probabilities.')
  return body
}

function firstProblem(body: unknown): EngineError {
  const [problem] = Value.Errors(ChatRequest, body)
  const param = (problem?.instancePath ?? '').slice(1).replaceAll('/', '.').slice(0, 200)
  const what = param === '' ? 'The body' : param
  return new EngineError(400, `${what} ${problem?.message ?? 'is not valid'}.`, param === '' ? {} : { param })
}
