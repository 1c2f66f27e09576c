import { Type, type Static } from 'typebox'
import { nullable } from '../nullable.ts'

const DOCUMENTS_MAX = 1000

export const RerankRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 }), 'The id of the model.'),
    query: Type.String({ minLength: 1, description: 'What the documents are ranked by.' }),
    documents: Type.Array(
      Type.Union([Type.String(), Type.Object({ text: Type.String({ description: 'The text.' }) })]),
      {
        minItems: 1,
        maxItems: DOCUMENTS_MAX,
        description: 'The documents to rank.',
      },
    ),
    top_n: nullable(Type.Integer({ minimum: 1 }), 'How many documents to return. All unless told.'),
    return_documents: nullable(Type.Boolean(), 'Whether the answer repeats the documents.'),
    max_chunks_per_doc: nullable(
      Type.Integer({ minimum: 1 }),
      'Into how many pieces a long document is split at most.',
    ),
  },
  {
    examples: [
      { query: 'What is a gateway?', documents: ['A gateway joins two networks.', 'Bread is baked.'] },
    ],
  },
)

export type RerankRequest = Static<typeof RerankRequest>
