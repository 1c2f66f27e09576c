import { Type, type Static } from 'typebox'
import { nullable } from '../nullable.ts'

const DOCUMENTS_MAX = 1000

export const RerankRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 })),
    query: Type.String({ minLength: 1 }),
    documents: Type.Array(Type.Union([Type.String(), Type.Object({ text: Type.String() })]), {
      minItems: 1,
      maxItems: DOCUMENTS_MAX,
    }),
    top_n: nullable(Type.Integer({ minimum: 1 })),
    return_documents: nullable(Type.Boolean()),
    max_chunks_per_doc: nullable(Type.Integer({ minimum: 1 })),
  },
  {
    examples: [
      { query: 'What is a gateway?', documents: ['A gateway joins two networks.', 'Bread is baked.'] },
    ],
  },
)

export type RerankRequest = Static<typeof RerankRequest>
