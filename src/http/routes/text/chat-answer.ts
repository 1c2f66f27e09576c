import { Type } from 'typebox'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CostUsd, Id, ModelId, objectName, partType } from '../../../wires/usual-members.ts'

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer({ description: 'Tokens of the input.' }),
    completion_tokens: Type.Integer({ description: 'Tokens of the output, with those of the reasoning.' }),
    total_tokens: Type.Integer({ description: 'Tokens of input and output together.' }),
    prompt_tokens_details: Type.Object(
      {
        cached_tokens: Type.Integer({
          description: "Input tokens that the upstream read from its cache, at the model's price for those.",
        }),
        cache_write_tokens: Type.Optional(
          Type.Integer({
            description: "Input tokens that the upstream wrote to its cache, at the model's price for those.",
          }),
        ),
      },
      { description: 'What the input tokens were.' },
    ),
    completion_tokens_details: Type.Object(
      { reasoning_tokens: Type.Integer({ description: 'Output tokens of the reasoning.' }) },
      { description: 'What the output tokens were.' },
    ),
    cost_usd: CostUsd,
  },
  { title: 'Usage' },
)

const AssistantMessage = Type.Object({
  role: Type.Literal('assistant', { description: 'Who wrote the message.' }),
  content: orNull(Type.String(), 'The text of the message, or its parts.'),
  refusal: Type.Optional(
    orNull(Type.String(), 'The text with which the model refused. `null` when it did not.'),
  ),
  reasoning_content: Type.Optional(
    orNull(Type.String(), 'The reasoning before the answer, where the model shows it.'),
  ),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Object({
          id: Id,
          type: partType('function'),
          function: Type.Object(
            {
              name: Type.String({ description: 'The name of the tool.' }),
              arguments: Type.String({
                description: 'The arguments as JSON text, as the model wrote them. They may be invalid.',
              }),
            },
            { description: 'A function: its name, and its parameters or arguments.' },
          ),
        }),
        Type.Object({
          id: Id,
          type: partType('custom'),
          custom: Type.Object(
            {
              name: Type.String({ description: 'The name of the tool.' }),
              input: Type.String({ description: 'The text for the tool, as the model wrote it.' }),
            },
            { description: 'A tool that takes free text.' },
          ),
        }),
      ]),
      { description: 'The calls of tools that the model asks for.' },
    ),
  ),
})

const finishReason = orNull(
  Type.Enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']),
  'Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter`.',
)

export const ChatCompletion = Type.Object(
  {
    id: Id,
    object: objectName('chat.completion'),
    created: Type.Integer({ description: 'When it was made, in seconds since 1970.' }),
    model: ModelId,
    choices: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Its position, from 0.' }),
        message: described(AssistantMessage, 'The message that the model wrote.'),
        logprobs: Type.Optional(
          Type.Unknown({
            description: 'Log probabilities of the output tokens. `null` when they were not asked for.',
          }),
        ),
        finish_reason: finishReason,
      }),
      { description: 'The answers. One unless `n` asks for more.' },
    ),
    usage: described(Usage, 'What was used, and what it cost.'),
    system_fingerprint: Type.Optional(
      orNull(Type.String(), 'Names the configuration of the upstream. `null` where it tells none.'),
    ),
  },
  { title: 'ChatCompletion' },
)

export const TextCompletion = Type.Object(
  {
    id: Id,
    object: objectName('text_completion'),
    created: Type.Integer({ description: 'When it was made, in seconds since 1970.' }),
    model: ModelId,
    choices: Type.Array(
      Type.Object({
        text: Type.String({ description: 'The text.' }),
        index: Type.Integer({ description: 'Its position, from 0.' }),
        logprobs: Type.Optional(
          Type.Unknown({
            description: 'Log probabilities of the output tokens. `null` when they were not asked for.',
          }),
        ),
        finish_reason: finishReason,
      }),
      { description: 'The answers. One unless `n` asks for more.' },
    ),
    usage: described(Usage, 'What was used, and what it cost.'),
  },
  { title: 'TextCompletion' },
)
