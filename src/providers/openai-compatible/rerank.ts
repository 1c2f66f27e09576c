import { isRecord } from '../../kernel/is-record.ts'
import type { InferenceOperation } from '../provider.ts'
import {
  countSearchUnits,
  readDocuments,
  writeRerankAnswer,
  type RankedDocument,
} from '../answers/rerank-answer.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import { readJsonBody } from './read-answer.ts'
import type { WireClient } from './wire-client.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'

/** Serves Jina's `/rerank`, which vLLM, llama.cpp, Together and others have adopted. */
export function createRerank(client: WireClient): InferenceOperation<RerankRequest> {
  return async (call) => {
    const documents = readDocuments(call.body)
    const response = await client.post(
      '/rerank',
      JSON.stringify({
        model: call.upstreamModel,
        query: call.body.query,
        documents,
        top_n: Math.min(call.body.top_n ?? documents.length, documents.length),
        return_documents: false,
      }),
      call,
    )
    const results = readResults(await readJsonBody(client.provider, response), documents.length)
    if (results === null) throw invalidAnswer(client.provider, 'its answer has no ranking')
    return writeRerankAnswer(results, countSearchUnits(documents.length))
  }
}

function readResults(answer: unknown, documentCount: number): RankedDocument[] | null {
  const results = isRecord(answer) ? answer['results'] : undefined
  if (!Array.isArray(results)) return null
  const ranked = results.map((entry: unknown) => {
    const { index, relevance_score: relevanceScore } = isRecord(entry) ? entry : {}
    return typeof index === 'number' && typeof relevanceScore === 'number' ? { index, relevanceScore } : null
  })
  return ranked.every((entry) => entry !== null && entry.index >= 0 && entry.index < documentCount)
    ? ranked.filter((entry) => entry !== null)
    : null
}
