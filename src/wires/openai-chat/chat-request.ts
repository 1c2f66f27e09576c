import { Type, type Static } from 'typebox'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'

/**
 * The part of the OpenAI chat wire that the gateway reads. Every object is open: unknown fields pass through. The limits are the
 * gateway's own; an upstream may be stricter.
 */
const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() })

const ImagePart = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({
    url: Type.String({ minLength: 1 }),
    detail: nullable(Type.Enum(['auto', 'low', 'high', 'original'])),
  }),
})

const AudioPart = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String() }),
})

const FilePart = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    file_data: nullable(Type.String()),
    file_id: nullable(Type.String()),
    filename: nullable(Type.String()),
  }),
})

const VideoPart = Type.Object({
  type: Type.Literal('video_url'),
  video_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
})

const RefusalPart = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() })

const ContentPart = Type.Union([TextPart, ImagePart, AudioPart, FilePart, VideoPart, RefusalPart])

const FunctionCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})

const CustomCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('custom'),
  custom: Type.Object({ name: Type.String(), input: Type.String() }),
})

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: nullable(Type.Union([Type.String(), Type.Array(ContentPart, { maxItems: 4096 })])),
  name: nullable(Type.String()),
  refusal: nullable(Type.String()),
  reasoning_content: nullable(Type.String()),
  tool_calls: nullable(Type.Array(Type.Union([FunctionCall, CustomCall]), { maxItems: 1024 })),
  tool_call_id: nullable(Type.String()),
})

/** The keywords of a JSON schema. */
const SCHEMA_NAMES = { count: 1024, length: 256 }

const FunctionTool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: nullable(Type.String()),
    parameters: nullable(namedValues(Type.Unknown(), SCHEMA_NAMES)),
    strict: nullable(Type.Boolean()),
  }),
})

/** A tool that takes plain text instead of JSON arguments. */
const CustomTool = Type.Object({
  type: Type.Literal('custom'),
  custom: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: nullable(Type.String()),
    format: nullable(
      Type.Object({
        type: Type.String(),
        grammar: nullable(Type.Object({ syntax: Type.String(), definition: Type.String() })),
      }),
    ),
  }),
})

const ChatTool = Type.Union([FunctionTool, CustomTool])

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
  Type.Object({ type: Type.Literal('custom'), custom: Type.Object({ name: Type.String() }) }),
  Type.Object({
    type: Type.Literal('allowed_tools'),
    allowed_tools: Type.Object({
      mode: Type.Enum(['auto', 'required']),
      tools: Type.Array(Type.Object({ type: Type.String() }), { maxItems: 1024 }),
    }),
  }),
])

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: nullable(Type.String()),
      schema: nullable(namedValues(Type.Unknown(), SCHEMA_NAMES)),
      strict: nullable(Type.Boolean()),
    }),
  }),
])

const Stop = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])
const StreamOptions = Type.Object({ include_usage: nullable(Type.Boolean()) })

export const BIASED_TOKENS = { count: 1024, length: 64 }

export const ChatRequest = Type.Object(
  {
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
    logit_bias: nullable(namedValues(Type.Number(), BIASED_TOKENS)),
    presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
    reasoning_effort: nullable(Type.String()),
    think: nullable(Type.Boolean({ description: 'Turns reasoning on, where the model supports it.' })),
    user: nullable(Type.String()),
    metadata: nullable(namedValues(Type.String({ maxLength: 512 }), { count: 16, length: 64 })),
  },
  {
    examples: [
      {
        model: 'gpt-4o-mini',
        messages: [
          { role: 'system', content: 'You answer in one sentence.' },
          { role: 'user', content: 'Why is the sky blue?' },
        ],
        max_tokens: 200,
        stream: false,
      },
    ],
  },
)

export type ChatRequest = Static<typeof ChatRequest>
export type ChatMessage = Static<typeof ChatMessage>
export type ChatTool = Static<typeof ChatTool>
export type ContentPart = Static<typeof ContentPart>

export interface ChatUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: { cached_tokens?: number }
  completion_tokens_details?: { reasoning_tokens?: number }
}
