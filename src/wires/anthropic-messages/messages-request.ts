import { Type, type Static } from 'typebox'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'
import { partType } from '../usual-members.ts'

/**
 * The part of Anthropic's Messages wire that the gateway reads. Every object is open: unknown fields are passed on to providers
 * that use this wire. The content of a block is validated where it is translated.
 */
const Block = Type.Object({
  type: Type.String({ minLength: 1, maxLength: 128, description: 'The kind of this part.' }),
})

const Message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system'], { description: 'Who wrote the message.' }),
  content: Type.Union([Type.String(), Type.Array(Block, { maxItems: 4096 })], {
    description: 'The text of the message, or its parts.',
  }),
})

const Tool = Type.Object({
  type: nullable(Type.String({ maxLength: 128 }), 'The kind of the tool. One that you define unless told.'),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The name of the tool.' })),
  description: nullable(Type.String(), 'What it is for, in words.'),
  input_schema: Type.Optional(
    namedValues(Type.Unknown(), {
      count: 1024,
      length: 256,
      description: 'What the tool takes, as a JSON Schema.',
    }),
  ),
  strict: nullable(Type.Boolean(), 'Whether the output must follow the schema exactly.'),
})

const ToolChoice = Type.Object({
  type: Type.Enum(['auto', 'any', 'tool', 'none'], {
    description: 'Whether the model may, must or must not call a tool.',
  }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The name of the tool.' })),
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
      type: partType('json_schema'),
      schema: namedValues(Type.Unknown(), { count: 1024, length: 256, description: 'The JSON Schema.' }),
    }),
    'The form of the answer: JSON that follows a schema.',
  ),
})

const PROMPT = {
  model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
  messages: Type.Array(Message, {
    minItems: 1,
    maxItems: 4096,
    description: 'The conversation so far, oldest message first.',
  }),
  system: nullable(Type.Union([Type.String(), Type.Array(Block, { maxItems: 1024 })]), 'The system prompt.'),
  tools: nullable(Type.Array(Tool, { maxItems: 1024 }), 'The tools that the model may call.'),
  tool_choice: nullable(ToolChoice, 'Whether the model may, must or must not call a tool, or which one.'),
  thinking: nullable(Thinking, 'Whether and how long the model thinks before it answers.'),
  output_config: nullable(OutputConfig, 'How the answer is made, and in which form.'),
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
    temperature: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'How random the output is: 0 is the least.',
    ),
    top_p: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Samples among the most likely tokens that together have this probability.',
    ),
    top_k: nullable(
      Type.Integer({ minimum: 0, description: 'Samples among so many tokens, where the model can be told.' }),
    ),
    metadata: nullable(
      Type.Object({
        user_id: nullable(Type.String({ maxLength: 4096, description: 'Names the end user to the vendor.' })),
      }),
      'About the request, for the vendor.',
    ),
    stream: nullable(Type.Boolean({ description: 'Answer with Server-Sent Events.' })),
  },
  { examples: [{ ...EXAMPLE, max_tokens: 200 }] },
)

export type MessagesRequest = Static<typeof MessagesRequest>
export type CountTokensRequest = Static<typeof CountTokensRequest>
export type MessagesTool = Static<typeof Tool>
export type MessagesMessage = Static<typeof Message>
