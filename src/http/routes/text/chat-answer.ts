import { Type } from 'typebox'

const nullableString = Type.Union([Type.String(), Type.Null()])

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Object({
      cached_tokens: Type.Integer(),
      cache_write_tokens: Type.Optional(Type.Integer()),
    }),
    completion_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
    cost_usd: Type.Number(),
  },
  { title: 'Usage' },
)

const AssistantMessage = Type.Object({
  role: Type.Literal('assistant'),
  content: nullableString,
  refusal: Type.Optional(nullableString),
  reasoning_content: Type.Optional(nullableString),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Object({
          id: Type.String(),
          type: Type.Literal('function'),
          function: Type.Object({ name: Type.String(), arguments: Type.String() }),
        }),
        Type.Object({
          id: Type.String(),
          type: Type.Literal('custom'),
          custom: Type.Object({ name: Type.String(), input: Type.String() }),
        }),
      ]),
    ),
  ),
})

const finishReason = Type.Union([
  Type.Enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']),
  Type.Null(),
])

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: AssistantMessage,
        logprobs: Type.Optional(Type.Unknown()),
        finish_reason: finishReason,
      }),
    ),
    usage: Usage,
    system_fingerprint: Type.Optional(nullableString),
  },
  { title: 'ChatCompletion' },
)

export const TextCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        text: Type.String(),
        index: Type.Integer(),
        logprobs: Type.Optional(Type.Unknown()),
        finish_reason: finishReason,
      }),
    ),
    usage: Usage,
  },
  { title: 'TextCompletion' },
)
