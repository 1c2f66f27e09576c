import { readNumber, readString } from '../exchange/read-json.ts'
import type { EmbeddingVendor } from './embedding-operation.ts'
import type { RerankVendor } from './rerank-operation.ts'

const COHERE = { provider: 'cohere', defaultBaseUrl: 'https://api.cohere.com/v2' }

export const cohereEmbeddings: EmbeddingVendor = {
  ...COHERE,
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createCohere } = await import('@ai-sdk/cohere')
    return createCohere({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(modelId)
  },
  toProviderOptions: (body) => ({
    cohere: {
      // Most embedded texts are documents to be searched later. Clients that embed a query send `input_type`.
      inputType: readString(body, 'input_type') ?? 'search_document',
      ...(typeof body.dimensions === 'number' ? { outputDimension: body.dimensions } : {}),
    },
  }),
}

export const cohereReranking: RerankVendor = {
  ...COHERE,
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createCohere } = await import('@ai-sdk/cohere')
    return createCohere({ apiKey, baseURL: baseUrl, fetch }).rerankingModel(modelId)
  },
  readSearchUnits: (answer) => readNumber(answer, 'meta', 'billed_units', 'search_units'),
}
