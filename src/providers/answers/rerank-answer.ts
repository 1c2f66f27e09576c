import type { CompleteAnswer } from '../provider.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'

export interface RankedDocument {
  readonly index: number
  readonly relevanceScore: number
}

const DOCUMENTS_A_SEARCH = 100

/**
 * Returns the number of Cohere's billing units, which the catalog's prices refer to: one query over up to a hundred documents.
 */
export function countSearchUnits(documentCount: number): number {
  return Math.max(1, Math.ceil(documentCount / DOCUMENTS_A_SEARCH))
}

/** Returns only the texts, which every upstream accepts. */
export function readDocuments({ documents }: RerankRequest): string[] {
  return documents.map((document) => (typeof document === 'string' ? document : document.text))
}

export function writeRerankAnswer(results: readonly RankedDocument[], searchUnits: number): CompleteAnswer {
  const answer = {
    results: results.map(({ index, relevanceScore }) => ({ index, relevance_score: relevanceScore })),
    meta: { billed_units: { search_units: searchUnits } },
  }
  return { kind: 'complete', payload: Buffer.from(JSON.stringify(answer)) }
}
