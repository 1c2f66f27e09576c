import { Type, type Static } from 'typebox'
import { BIASED_TOKENS } from '../openai-chat/chat-request.ts'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'

const PROMPTS_MAX = 128

/** OpenAI's legacy text completion. Objects are open: unknown fields pass through. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    prompt: Type.Union(
      [
        Type.String(),
        Type.Array(Type.String(), { minItems: 1, maxItems: PROMPTS_MAX }),
        Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
        Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }), {
          minItems: 1,
          maxItems: PROMPTS_MAX,
        }),
      ],
      { description: 'The prompt.' },
    ),
    suffix: nullable(Type.String({ description: 'Text behind the place to fill in.' })),
    max_tokens: nullable(Type.Integer({ minimum: 1, default: 16 }), 'The most tokens of the answer.'),
    max_completion_tokens: nullable(
      Type.Integer({ minimum: 1 }),
      'The most tokens of the answer, with those of the reasoning.',
    ),
    reasoning_effort: nullable(Type.String(), 'How much the model reasons before it answers.'),
    think: nullable(Type.Boolean(), 'Whether the model reasons before it answers, where it can be told.'),
    temperature: nullable(
      Type.Number({ minimum: 0, maximum: 2 }),
      'How random the output is: 0 is the least.',
    ),
    top_p: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Samples among the most likely tokens that together have this probability.',
    ),
    n: nullable(Type.Integer({ minimum: 1, maximum: 128 }), 'How many answers to make. Each is charged.'),
    best_of: nullable(
      Type.Integer({ minimum: 1, maximum: 20 }),
      'How many answers to make before the best `n` are returned. Each is charged.',
    ),
    stream: nullable(Type.Boolean(), 'Whether the answer comes as server-sent events.'),
    stream_options: nullable(
      Type.Object({
        include_usage: nullable(Type.Boolean(), 'Whether the last chunk of the stream carries the usage.'),
      }),
      'Options of the stream.',
    ),
    stop: nullable(
      Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })]),
      'Texts at which the answer ends. They are not part of it.',
    ),
    echo: nullable(Type.Boolean(), 'Whether the answer begins with the prompt.'),
    logprobs: nullable(
      Type.Integer({ minimum: 0, maximum: 20 }),
      'How many alternatives to return for each token, with their log probabilities.',
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
    seed: nullable(Type.Integer(), 'Asks for the same result for the same request, where the model can.'),
    user: nullable(Type.String(), 'An id of your end user. It is passed on to the upstream.'),
  },
  { examples: [{ model: 'gpt-5.6-luna', prompt: 'Once upon a time', max_tokens: 64, stream: false }] },
)

export type CompletionRequest = Static<typeof CompletionRequest>
