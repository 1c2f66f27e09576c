import { Type, type Static } from 'typebox'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'
import { Id, partType } from '../usual-members.ts'

/**
 * The part of the OpenAI chat wire that the gateway reads. Every object is open: unknown fields pass through. The limits are the
 * gateway's own; an upstream may be stricter.
 */
const TextPart = Type.Object({ type: partType('text'), text: Type.String({ description: 'The text.' }) })

const ImagePart = Type.Object({
  type: partType('image_url'),
  image_url: Type.Object(
    {
      url: Type.String({ minLength: 1, description: 'The address of the picture.' }),
      detail: nullable(
        Type.Enum(['auto', 'low', 'high', 'original']),
        'How closely the model looks at the picture.',
      ),
    },
    {
      description:
        'A picture: an `https` address, a data URI, or the address of a file that this gateway keeps.',
    },
  ),
})

const AudioPart = Type.Object({
  type: partType('input_audio'),
  input_audio: Type.Object(
    {
      data: Type.String({
        minLength: 1,
        description: 'The sound in base64.',
      }),
      format: Type.String({ description: 'The format of the sound, such as `wav` or `mp3`.' }),
    },
    { description: 'A sound in base64.' },
  ),
})

const FilePart = Type.Object({
  type: partType('file'),
  file: Type.Object(
    {
      file_data: nullable(Type.String(), 'The content of the file as a data URI.'),
      file_id: nullable(
        Type.String(),
        'A file under `/v1/files` with the purpose `user_data` or `vision`, instead of `file_data`. Ids of files that the upstream holds are refused: they are of the account that all clients share.',
      ),
      filename: nullable(Type.String(), 'The name of the file.'),
    },
    { description: 'A file, by its content or its id.' },
  ),
})

const VideoPart = Type.Object({
  type: partType('video_url'),
  video_url: Type.Object(
    { url: Type.String({ minLength: 1, description: 'The address of the video.' }) },
    { description: 'A video: an `https` address or a data URI.' },
  ),
})

const RefusalPart = Type.Object({
  type: partType('refusal'),
  refusal: Type.String({ description: 'The text with which the model refused. `null` when it did not.' }),
})

const ContentPart = Type.Union([TextPart, ImagePart, AudioPart, FilePart, VideoPart, RefusalPart])

const FunctionCall = Type.Object({
  id: Id,
  type: partType('function'),
  function: Type.Object(
    {
      name: Type.String({ description: 'The name of the function.' }),
      arguments: Type.String({
        description: 'The arguments as JSON text, as the model wrote them. They may be invalid.',
      }),
    },
    { description: 'A function: its name, and its parameters or arguments.' },
  ),
})

const CustomCall = Type.Object({
  id: Id,
  type: partType('custom'),
  custom: Type.Object(
    {
      name: Type.String({ description: 'The name of the tool.' }),
      input: Type.String({ description: 'The text for the tool, as the model wrote it.' }),
    },
    { description: 'A tool that takes free text.' },
  ),
})

const ChatMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'], {
    description: 'Who wrote the message.',
  }),
  content: nullable(
    Type.Union([Type.String(), Type.Array(ContentPart, { maxItems: 4096 })]),
    'The text of the message, or its parts.',
  ),
  name: nullable(Type.String(), 'The name of who wrote the message, or of the function.'),
  refusal: nullable(Type.String(), 'The text with which the model refused. `null` when it did not.'),
  reasoning_content: nullable(Type.String(), 'The reasoning before the answer, where the model shows it.'),
  tool_calls: nullable(
    Type.Array(Type.Union([FunctionCall, CustomCall]), { maxItems: 1024 }),
    'The calls of tools that the model asks for.',
  ),
  tool_call_id: nullable(Type.String(), 'The call that this message answers.'),
})

/** The keywords of a JSON schema. */
const SCHEMA_NAMES = { count: 1024, length: 256 }

const FunctionTool = Type.Object({
  type: partType('function'),
  function: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 128, description: 'The name of the function.' }),
      description: nullable(Type.String(), 'What it is for, in words.'),
      parameters: nullable(namedValues(Type.Unknown(), SCHEMA_NAMES), 'The parameters as a JSON Schema.'),
      strict: nullable(Type.Boolean(), 'Whether the output must follow the schema exactly.'),
    },
    { description: 'A function: its name, and its parameters or arguments.' },
  ),
})

/** A tool that takes plain text instead of JSON arguments. */
const CustomTool = Type.Object({
  type: partType('custom'),
  custom: Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 128, description: 'The name of the tool.' }),
      description: nullable(Type.String(), 'What it is for, in words.'),
      format: nullable(
        Type.Object({
          type: Type.String({ description: '`text` or `grammar`.' }),
          grammar: nullable(
            Type.Object({
              syntax: Type.String({ description: 'The language of the grammar.' }),
              definition: Type.String({ description: 'The text of the grammar.' }),
            }),
            'The grammar that the text must follow.',
          ),
        }),
        'The form of the text that the tool takes.',
      ),
    },
    { description: 'A tool that takes free text.' },
  ),
})

const ChatTool = Type.Union([FunctionTool, CustomTool])

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({
    type: partType('function'),
    function: Type.Object(
      { name: Type.String({ description: 'The name of the function.' }) },
      { description: 'A function: its name, and its parameters or arguments.' },
    ),
  }),
  Type.Object({
    type: partType('custom'),
    custom: Type.Object(
      { name: Type.String({ description: 'The name of the tool.' }) },
      { description: 'A tool that takes free text.' },
    ),
  }),
  Type.Object({
    type: partType('allowed_tools'),
    allowed_tools: Type.Object(
      {
        mode: Type.Enum(['auto', 'required'], { description: 'Whether the model may call a tool or must.' }),
        tools: Type.Array(Type.Object({ type: Type.String({ description: 'The kind of the tool.' }) }), {
          maxItems: 1024,
          description: 'The tools that the model may call.',
        }),
      },
      { description: 'The tools among which the model chooses.' },
    ),
  }),
])

const ResponseFormat = Type.Union([
  Type.Object({ type: partType('text') }),
  Type.Object({ type: partType('json_object') }),
  Type.Object({
    type: partType('json_schema'),
    json_schema: Type.Object(
      {
        name: Type.String({ minLength: 1, description: 'The name of the schema.' }),
        description: nullable(Type.String(), 'What it is for, in words.'),
        schema: nullable(namedValues(Type.Unknown(), SCHEMA_NAMES), 'The JSON Schema.'),
        strict: nullable(Type.Boolean(), 'Whether the output must follow the schema exactly.'),
      },
      { description: 'The schema that the answer must follow, with its name.' },
    ),
  }),
])

const Stop = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])
const StreamOptions = Type.Object({
  include_usage: nullable(Type.Boolean(), 'Whether the last chunk of the stream carries the usage.'),
})

export const BIASED_TOKENS = { count: 1024, length: 64 }

export const ChatRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    messages: Type.Array(ChatMessage, {
      minItems: 1,
      maxItems: 4096,
      description: 'The conversation so far, oldest message first.',
    }),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2, description: 'Sampling temperature.' })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling.' })),
    max_tokens: nullable(Type.Integer({ minimum: 1, description: 'Maximum output tokens.' })),
    max_completion_tokens: nullable(
      Type.Integer({ minimum: 1 }),
      'The most tokens of the answer, with those of the reasoning.',
    ),
    stream: nullable(Type.Boolean({ description: 'Answer with Server-Sent Events.' })),
    stream_options: nullable(StreamOptions, 'Options of the stream.'),
    stop: nullable(Stop, 'Texts at which the answer ends. They are not part of it.'),
    n: nullable(Type.Integer({ minimum: 1, maximum: 128 }), 'How many answers to make. Each is charged.'),
    tools: nullable(Type.Array(ChatTool, { maxItems: 1024 }), 'The tools that the model may call.'),
    tool_choice: nullable(ToolChoice, 'Whether the model may, must or must not call a tool, or which one.'),
    parallel_tool_calls: nullable(
      Type.Boolean(),
      'Whether the model may ask for several calls in one answer.',
    ),
    response_format: nullable(
      ResponseFormat,
      'The form of the answer: text, JSON, or JSON that follows a schema.',
    ),
    seed: nullable(Type.Integer({ description: 'Reproducibility seed, where the model supports it.' })),
    logprobs: nullable(Type.Boolean(), 'Whether the answer has the log probabilities of its tokens.'),
    top_logprobs: nullable(
      Type.Integer({ minimum: 0, maximum: 20 }),
      'How many alternatives to return for each token.',
    ),
    logit_bias: nullable(
      namedValues(Type.Number(), BIASED_TOKENS),
      'Makes tokens more or less likely, by their ids.',
    ),
    presence_penalty: nullable(
      Type.Number({ minimum: -2, maximum: 2 }),
      'Makes tokens less likely that occurred before.',
    ),
    frequency_penalty: nullable(
      Type.Number({ minimum: -2, maximum: 2 }),
      'Makes tokens less likely the more often they occurred before.',
    ),
    reasoning_effort: nullable(Type.String(), 'How much the model reasons before it answers.'),
    think: nullable(Type.Boolean({ description: 'Turns reasoning on, where the model supports it.' })),
    user: nullable(Type.String(), 'An id of your end user. It is passed on to the upstream.'),
    metadata: nullable(
      namedValues(Type.String({ maxLength: 512 }), { count: 16, length: 64 }),
      'Pairs of text that you attach. They come back unchanged.',
    ),
  },
  {
    examples: [
      {
        model: 'gpt-5.6-luna',
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
