import { Type, type Static } from 'typebox'
import { nullable } from './nullable.ts'

/**
 * The OpenAI chat wire, as far as the gateway looks at it. Fields that are not named here pass through: every object
 * is open. Bounds are the gateway's own; an upstream may be stricter.
 */
const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() })

const ImagePart = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({
    url: Type.String({ minLength: 1 }),
    detail: Type.Optional(Type.Enum(['auto', 'low', 'high', 'original'])),
  }),
})

const AudioPart = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String() }),
})

const FilePart = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    file_data: Type.Optional(Type.String()),
    file_id: Type.Optional(Type.String()),
    filename: Type.Optional(Type.String()),
  }),
})

const VideoPart = Type.Object({
  type: Type.Literal('video_url'),
  video_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
})

const RefusalPart = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() })

const ContentPart = Type.Union([TextPart, ImagePart, AudioPart, FilePart, VideoPart, RefusalPart])

const ToolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ContentPart, { minItems: 1, maxItems: 4096 }), Type.Null()]),
  ),
  name: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  reasoning_content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  tool_calls: Type.Optional(Type.Union([Type.Array(ToolCall, { maxItems: 1024 }), Type.Null()])),
  tool_call_id: Type.Optional(Type.String()),
})

const ChatTool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  }),
})

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
])

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: Type.Optional(Type.String()),
      schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    }),
  }),
])

const Stop = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])
const StreamOptions = Type.Object({ include_usage: Type.Optional(Type.Boolean()) })

export const ChatRequest = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
  messages: Type.Array(ChatMessage, { minItems: 1, maxItems: 4096 }),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2, description: 'Sampling temperature.' })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling.' })),
  max_tokens: nullable(Type.Integer({ minimum: 1, description: 'Maximum output tokens.' })),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  stream: nullable(Type.Boolean({ description: 'Answer with Server-Sent Events.' })),
  stream_options: nullable(StreamOptions),
  stop: nullable(Stop),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  tools: nullable(Type.Array(ChatTool, { maxItems: 1024 })),
  tool_choice: nullable(ToolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(ResponseFormat),
  seed: nullable(Type.Integer({ description: 'Reproducibility seed, where the model supports it.' })),
  logprobs: nullable(Type.Boolean()),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
  logit_bias: nullable(Type.Record(Type.String(), Type.Number())),
  presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  reasoning_effort: nullable(Type.String()),
  think: nullable(Type.Boolean({ description: 'Turns reasoning on, where the model supports it.' })),
  user: nullable(Type.String()),
  metadata: nullable(Type.Record(Type.String(), Type.String())),
})

export type ChatRequest = Static<typeof ChatRequest>
export type ChatMessage = Static<typeof ChatMessage>
export type ContentPart = Static<typeof ContentPart>

export interface ChatUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: { cached_tokens?: number }
  completion_tokens_details?: { reasoning_tokens?: number }
}
