import { readString } from '../exchange/read-json.ts'
import type { EmbeddingVendor } from './embedding-operation.ts'

export const googleEmbeddings: EmbeddingVendor = {
  provider: 'google',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  async createModel({ modelId, apiKey, baseUrl, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ apiKey, baseURL: baseUrl, fetch }).embeddingModel(modelId)
  },
  toProviderOptions(body) {
    const taskType = readString(body, 'task_type')
    return { google: taskType === undefined ? {} : { taskType } }
  },
  leavesShortVectorsUnscaled: true,
}
