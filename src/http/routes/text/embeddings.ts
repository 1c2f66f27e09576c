import { Type } from 'typebox'
import type { Embeddings } from '../../../modules/embeddings/embeddings.ts'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import { CostUsd, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, type HotRoute } from '../../route.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'

const EmbeddingList = Type.Object(
  {
    object: objectName('list'),
    model: Type.String({ description: 'As it was asked for.' }),
    data: Type.Array(
      Type.Object({
        object: objectName('embedding'),
        index: Type.Integer({ description: 'Its position, from 0.' }),
        embedding: Type.Union([
          Type.Array(Type.Number()),
          Type.String({ description: 'With `base64`: little-endian floats of 32 bits.' }),
        ]),
      }),
      { description: 'The vectors, in the order of the input.' },
    ),
    usage: Type.Object(
      {
        prompt_tokens: Type.Integer({ description: 'Tokens of the input.' }),
        total_tokens: Type.Integer({ description: 'Tokens of input and output together.' }),
        cost_usd: CostUsd,
      },
      { description: 'What was used, and what it cost.' },
    ),
  },
  { title: 'EmbeddingList' },
)

interface EmbeddingRouteOptions {
  readonly embeddings: Embeddings
  readonly sendInference: SendInference
}

export const embeddingRoutes = ({ embeddings, sendInference }: EmbeddingRouteOptions): HotRoute[] => [
  defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'Embeddings',
    tag: 'Embeddings',
    access: inProject('models.use'),
    body: EmbeddingRequest,
    responses: { 200: { description: 'A vector for each input, in their order.', schema: EmbeddingList } },
    handle: (request) => {
      const record = createInferenceRecord('embedding')
      return sendInference(request, record, () => embeddings.embed(toInference(request, record)))
    },
  }),
]
