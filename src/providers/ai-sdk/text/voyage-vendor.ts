import { readString } from '../exchange/read-json.ts'
import type { EmbeddingVendor } from './embedding-operation.ts'
import type { RerankVendor } from './rerank-operation.ts'

const VOYAGE = { provider: 'voyage', defaultBaseUrl: 'https://api.voyageai.com/v1' }

export const voyageEmbeddings: EmbeddingVendor = {
  ...VOYAGE,
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createVoyage } = await import('@ai-sdk/voyage')
    return createVoyage({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(modelId)
  },
  toProviderOptions(body) {
    const inputType = readString(body, 'input_type')
    return {
      voyage: {
        ...(inputType === undefined ? {} : { inputType }),
        ...(typeof body.dimensions === 'number' ? { outputDimension: body.dimensions } : {}),
      },
    }
  },
}

export const voyageReranking: RerankVendor = {
  ...VOYAGE,
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createVoyage } = await import('@ai-sdk/voyage')
    return createVoyage({ apiKey, baseURL: baseUrl, fetch }).rerankingModel(modelId)
  },
}
