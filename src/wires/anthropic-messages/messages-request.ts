import { Type, type Static } from 'typebox'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'

/**
 * The part of Anthropic's Messages wire that the gateway reads. Every object is open: unknown fields are passed on to providers
 * that use this wire. The content of a block is validated where it is translated.
 */
const Block = Type.Object({ type: Type.String({ minLength: 1, maxLength: 128 }) })

const Message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Union([Type.String(), Type.Array(Block, { maxItems: 4096 })]),
})

const Tool = Type.Object({
  type: nullable(Type.String({ maxLength: 128 })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  description: nullable(Type.String()),
  input_schema: Type.Optional(
    namedValues(Type.Unknown(), {
      count: 1024,
      length: 256,
      description: 'What the tool takes, as a JSON Schema.',
    }),
  ),
  strict: nullable(Type.Boolean()),
})

const ToolChoice = Type.Object({
  type: Type.Enum(['auto', 'any', 'tool', 'none']),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  disable_parallel_tool_use: nullable(Type.Boolean({ description: 'At most one call in an answer.' })),
})

const Thinking = Type.Object({
  type: Type.String({ maxLength: 64, description: '`enabled`, `adaptive` or `disabled`.' }),
  budget_tokens: nullable(Type.Integer({ minimum: 1, description: 'Tokens to think with.' })),
})

const OutputConfig = Type.Object({
  effort: nullable(Type.String({ maxLength: 64, description: 'How much work goes into the answer.' })),
  format: nullable(
    Type.Object({
      type: Type.Literal('json_schema'),
      schema: namedValues(Type.Unknown(), { count: 1024, length: 256 }),
    }),
  ),
})

const PROMPT = {
  model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 4096 }),
  system: nullable(Type.Union([Type.String(), Type.Array(Block, { maxItems: 1024 })])),
  tools: nullable(Type.Array(Tool, { maxItems: 1024 })),
  tool_choice: nullable(ToolChoice),
  thinking: nullable(Thinking),
  output_config: nullable(OutputConfig),
}

const EXAMPLE = {
  model: 'claude-sonnet-4-6',
  system: 'You answer in one sentence.',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
}

export const CountTokensRequest = Type.Object(PROMPT, { examples: [EXAMPLE] })

export const MessagesRequest = Type.Object(
  {
    ...PROMPT,
    max_tokens: Type.Integer({ minimum: 1, description: 'Maximum output tokens, thoughts included.' }),
    stop_sequences: nullable(
      Type.Array(Type.String(), { maxItems: 64, description: 'Texts at which the answer stops.' }),
    ),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullable(
      Type.Integer({ minimum: 0, description: 'Samples among so many tokens, where the model can be told.' }),
    ),
    metadata: nullable(
      Type.Object({
        user_id: nullable(Type.String({ maxLength: 4096, description: 'Names the end user to the vendor.' })),
      }),
    ),
    stream: nullable(Type.Boolean({ description: 'Answer with Server-Sent Events.' })),
  },
  { examples: [{ ...EXAMPLE, max_tokens: 200 }] },
)

export type MessagesRequest = Static<typeof MessagesRequest>
export type CountTokensRequest = Static<typeof CountTokensRequest>
export type MessagesTool = Static<typeof Tool>
export type MessagesMessage = Static<typeof Message>
