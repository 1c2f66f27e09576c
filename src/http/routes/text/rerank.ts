import { Type } from 'typebox'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Rerank } from '../../../modules/rerank/rerank.ts'
import { rerankWire } from '../../../wires/rerank/rerank-wire.ts'
import { RerankRequest } from '../../../wires/rerank/rerank-request.ts'
import { CostUsd, Id } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, type HotRoute } from '../../route.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'

const Ranking = Type.Object(
  {
    id: Id,
    model: Type.String({ description: 'As it was asked for; the default where none was named.' }),
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Of the document in the request.' }),
        relevance_score: Type.Number({ description: 'How relevant the document is, from 0 to 1.' }),
        document: Type.Optional(
          Type.Object(
            { text: Type.String({ description: 'The text.' }) },
            { description: 'The document, when `return_documents` asks for it.' },
          ),
        ),
      }),
      { description: 'The most relevant first.' },
    ),
    usage: Type.Object(
      {
        prompt_tokens: Type.Optional(Type.Integer({ description: 'Tokens of the input.' })),
        total_tokens: Type.Optional(Type.Integer({ description: 'Tokens of input and output together.' })),
        search_units: Type.Integer({
          description: 'What the upstream bills: one for a query with up to 100 documents.',
        }),
        cost_usd: CostUsd,
      },
      { description: 'What was used, and what it cost.' },
    ),
    meta: Type.Object(
      {
        billed_units: Type.Object(
          {
            search_units: Type.Integer({
              description: 'What the upstream bills: one for a query with up to 100 documents.',
            }),
          },
          { description: 'What was billed.' },
        ),
      },
      { description: "The same figures where Cohere's clients look for them." },
    ),
  },
  { title: 'Ranking' },
)

interface RerankRouteOptions {
  readonly rerank: Rerank
  readonly sendInference: SendInference
}

export const rerankRoutes = (options: RerankRouteOptions): HotRoute[] => {
  const rank = rankDocuments(options)
  return [rank, { ...rank, path: '/v2/rerank', wire: rerankWire, aliasOf: rank.path }]
}

function rankDocuments({ rerank, sendInference }: RerankRouteOptions): HotRoute {
  return defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/rerank',
    summary: 'Rank documents by their relevance to a query',
    tag: 'Rerank',
    access: inProject('models.use'),
    body: RerankRequest,
    responses: { 200: { description: 'The documents in order.', schema: Ranking } },
    handle: (request) => {
      const record = createInferenceRecord('rerank')
      return sendInference(request, record, () => rerank.rank(toInference(request, record)))
    },
  })
}
