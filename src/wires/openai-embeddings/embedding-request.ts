import { Type, type Static } from 'typebox'
import { nullable } from '../nullable.ts'

const INPUTS_MAX = 2048

/** OpenAI's embeddings. Objects are open: unknown fields pass through. */
export const EmbeddingRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    input: Type.Union(
      [
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: INPUTS_MAX }),
        Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 1_000_000 }),
        Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }), {
          minItems: 1,
          maxItems: INPUTS_MAX,
        }),
      ],
      { description: 'The texts, or their tokens.' },
    ),
    dimensions: nullable(Type.Integer({ minimum: 1, maximum: 65_536 }), 'The length of the vectors.'),
    encoding_format: nullable(
      Type.Enum(['float', 'base64']),
      'Whether vectors come as numbers or as base64.',
    ),
    user: nullable(Type.String(), 'An id of your end user. It is passed on to the upstream.'),
  },
  { examples: [{ model: 'text-embedding-3-small', input: 'The quick brown fox' }] },
)

export type EmbeddingRequest = Static<typeof EmbeddingRequest>
