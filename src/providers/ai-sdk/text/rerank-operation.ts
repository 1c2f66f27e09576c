import type { InferenceOperation } from '../../provider.ts'
import {
  countSearchUnits,
  readDocuments,
  writeRerankAnswer,
  type RankedDocument,
} from '../../answers/rerank-answer.ts'
import type { RerankRequest } from '../../../wires/rerank/rerank-request.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createVendorCalls } from '../exchange/vendor-calls.ts'
import type { EmbeddingModelSettings } from './embedding-operation.ts'

/** The differences between the reranking vendors that are called through an AI SDK package. */
export interface RerankVendor {
  readonly provider: string
  readonly defaultBaseUrl: string
  createModel(settings: EmbeddingModelSettings): Promise<RerankModel>
  /** Reads the billed units, if the answer contains them. */
  readSearchUnits?(answer: unknown): number | undefined
}

/** The members that all versions of the packages' types have in common. */
interface RerankModel {
  doRerank(options: {
    documents: { type: 'text'; values: string[] }
    query: string
    topN: number
    abortSignal: AbortSignal
  }): PromiseLike<{ ranking: readonly RankedDocument[]; response?: { body?: unknown } }>
}

export function createRerankOperation(
  vendor: RerankVendor,
  options: AiSdkProviderOptions,
): InferenceOperation<RerankRequest> {
  const calls = createVendorCalls(vendor.provider, options)
  const baseUrl = options.baseUrl ?? vendor.defaultBaseUrl
  return async ({ body, upstreamModel: modelId, timeouts, cancellation, onSent, onKey }) => {
    const documents = readDocuments(body)
    const signal = cancellation.signal
    const attempt = { timeouts, signal, onSent, onKey }
    const { ranking, response } = await calls.attempt(attempt, async ({ apiKey, exchange }) => {
      const model = await vendor.createModel({ modelId, apiKey, baseUrl, fetch: exchange.fetch })
      return model.doRerank({
        documents: { type: 'text', values: documents },
        query: body.query,
        topN: Math.min(body.top_n ?? documents.length, documents.length),
        abortSignal: signal,
      })
    })
    if (ranking.some(({ index }) => documents[index] === undefined)) {
      throw new UpstreamError(`${vendor.provider} ranked a document that it was not sent`, {
        failure: 'invalid_answer',
        provider: vendor.provider,
      })
    }
    return writeRerankAnswer(
      ranking,
      vendor.readSearchUnits?.(response?.body) ?? countSearchUnits(documents.length),
    )
  }
}
