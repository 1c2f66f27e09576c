import { Type, type Static } from 'typebox'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'

/**
 * The part of OpenAI's Responses wire that the gateway reads. Every object is open. The content of items and tools is validated
 * where it is translated.
 */
const Item = Type.Object({
  type: Type.Optional(
    Type.String({ maxLength: 128, description: 'The kind of the item; a message unless told.' }),
  ),
})

const Tool = Type.Object({
  type: Type.String({ minLength: 1, maxLength: 128, description: 'The kind of the tool.' }),
})

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({
    type: Type.String({ maxLength: 128, description: 'The kind of the tool that the model must call.' }),
  }),
])

const Text = Type.Object({
  format: nullable(
    Type.Object(
      { type: Type.String({ maxLength: 64, description: '`text`, `json_object` or `json_schema`.' }) },
      { description: 'Text, JSON or a schema.' },
    ),
  ),
  verbosity: nullable(Type.String({ maxLength: 64, description: 'How long the answer is to be.' })),
})

const Reasoning = Type.Object({
  effort: nullable(Type.String({ maxLength: 64, description: 'How much the model thinks.' })),
  summary: nullable(Type.String({ maxLength: 64, description: 'Whether thoughts come as a summary.' })),
})

export const ResponsesRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    input: Type.Union([Type.String(), Type.Array(Item, { minItems: 1, maxItems: 4096 })], {
      description: 'The prompt: a text, or messages, calls and their results.',
    }),
    instructions: nullable(Type.String({ description: 'What the model is told first.' })),
    tools: nullable(Type.Array(Tool, { maxItems: 1024 }), 'The tools that the model may call.'),
    tool_choice: nullable(ToolChoice, 'Whether the model may, must or must not call a tool, or which one.'),
    parallel_tool_calls: nullable(
      Type.Boolean(),
      'Whether the model may ask for several calls in one answer.',
    ),
    text: nullable(Text, 'The form and the length of the text.'),
    reasoning: nullable(Reasoning, 'How the model reasons before it answers.'),
    max_output_tokens: nullable(
      Type.Integer({ minimum: 1, description: 'Maximum output tokens, thoughts included.' }),
    ),
    temperature: nullable(
      Type.Number({ minimum: 0, maximum: 2 }),
      'How random the output is: 0 is the least.',
    ),
    top_p: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Samples among the most likely tokens that together have this probability.',
    ),
    truncation: nullable(Type.Enum(['auto', 'disabled'], { description: 'Only `disabled` is honoured.' })),
    include: nullable(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: 64,
        description: 'What else the answer is to hold.',
      }),
    ),
    store: nullable(
      Type.Boolean({
        description: 'Store the response, so that it can be read and continued. On unless told.',
      }),
    ),
    previous_response_id: nullable(
      Type.String({ maxLength: 256, description: 'A stored response that this one continues.' }),
    ),
    conversation: nullable(
      Type.Union(
        [
          Type.String({ maxLength: 256 }),
          Type.Object({ id: Type.String({ maxLength: 256, description: 'The id of this object.' }) }),
        ],
        {
          description:
            'A conversation that this response continues. What was said and answered is added to it.',
        },
      ),
    ),
    background: nullable(
      Type.Boolean({ description: 'Answer at once, and work on it as a task. Needs a stored response.' }),
    ),
    metadata: nullable(
      namedValues(Type.String({ maxLength: 512 }), { count: 16, length: 64 }),
      'Pairs of text that you attach. They come back unchanged.',
    ),
    user: nullable(
      Type.String({ maxLength: 4096 }),
      'An id of your end user. It is passed on to the upstream.',
    ),
    safety_identifier: nullable(
      Type.String({ maxLength: 4096, description: 'Names the end user to the vendor.' }),
    ),
    prompt_cache_key: nullable(
      Type.String({ maxLength: 4096, description: 'Names a prompt that is sent often.' }),
    ),
    stream: nullable(Type.Boolean({ description: 'Answer with Server-Sent Events.' })),
  },
  {
    examples: [
      { model: 'gpt-5.4-mini', instructions: 'You answer in one sentence.', input: 'Why is the sky blue?' },
    ],
  },
)

export type ResponsesRequest = Static<typeof ResponsesRequest>

/** A request whose tokens are counted. It does not have to name a model. */
export type CountedResponsesRequest = Omit<ResponsesRequest, 'model'> & {
  readonly model?: string | null | undefined
}
