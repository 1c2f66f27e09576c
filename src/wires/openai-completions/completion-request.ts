import { Type, type Static } from 'typebox'
import { BIASED_TOKENS } from '../openai-chat/chat-request.ts'
import { namedValues } from '../named-values.ts'
import { nullable } from '../nullable.ts'

const PROMPTS_MAX = 128

/** OpenAI's legacy text completion. Objects are open: unknown fields pass through. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    prompt: Type.Union([
      Type.String(),
      Type.Array(Type.String(), { minItems: 1, maxItems: PROMPTS_MAX }),
      Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
      Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }), {
        minItems: 1,
        maxItems: PROMPTS_MAX,
      }),
    ]),
    suffix: nullable(Type.String({ description: 'Text behind the place to fill in.' })),
    max_tokens: nullable(Type.Integer({ minimum: 1, default: 16 })),
    max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
    reasoning_effort: nullable(Type.String()),
    think: nullable(Type.Boolean()),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
    best_of: nullable(Type.Integer({ minimum: 1, maximum: 20 })),
    stream: nullable(Type.Boolean()),
    stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
    stop: nullable(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])),
    echo: nullable(Type.Boolean()),
    logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
    logit_bias: nullable(namedValues(Type.Number(), BIASED_TOKENS)),
    presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
    seed: nullable(Type.Integer()),
    user: nullable(Type.String()),
  },
  { examples: [{ model: 'gpt-4o-mini', prompt: 'Once upon a time', max_tokens: 64, stream: false }] },
)

export type CompletionRequest = Static<typeof CompletionRequest>
