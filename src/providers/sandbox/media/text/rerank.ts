import { setImmediate as nextTurn } from 'node:timers/promises'
import type { InferenceOperation } from '../../../provider.ts'
import type { RerankRequest } from '../../../../wires/rerank/rerank-request.ts'
import { damagePayload } from '../../faults/inject-fault.ts'
import { createTurns } from '../../take-turns.ts'
import { beginCall, type SandboxParts } from '../begin-call.ts'
import { cosine, embedText } from './embed-text.ts'
import { listTerms } from './text-features.ts'

const DOCUMENTS_PER_SEARCH_UNIT = 100
const VECTOR_DIMENSIONS = 512
const TERM_SHARE = 0.65
const CHARACTERS_PER_TURN = 16_384

/** Scores documents by the words that they share with the query, where rare words count more, and by similarity of topic. */
export function createRerank(parts: SandboxParts): InferenceOperation<RerankRequest> {
  return async (call) => {
    const { body, upstreamModel, requestId, cancellation } = call
    const { text: query, fault, faultContext } = await beginCall(parts, body.query, call)
    const documents: ReadDocument[] = []
    let charactersSinceTurn = 0
    for (const document of body.documents) {
      const text = typeof document === 'string' ? document : document.text
      documents.push({ terms: countTerms(text), vector: embedText(text, VECTOR_DIMENSIONS) })
      charactersSinceTurn += text.length
      if (charactersSinceTurn < CHARACTERS_PER_TURN) continue
      charactersSinceTurn = 0
      await nextTurn()
      cancellation.throwIfCancelled()
    }
    const scores = await scoreDocuments(query, documents, cancellation.signal)
    const results = scores
      .map((score, index) => ({ index, relevance_score: Math.round(score * 1e6) / 1e6 }))
      .toSorted((left, right) => right.relevance_score - left.relevance_score || left.index - right.index)
      .slice(0, body.top_n ?? documents.length)
    const payload = Buffer.from(
      JSON.stringify({
        id: requestId,
        model: upstreamModel,
        results,
        meta: { billed_units: { search_units: Math.ceil(documents.length / DOCUMENTS_PER_SEARCH_UNIT) } },
      }),
    )
    return { kind: 'complete', payload: fault ? await damagePayload(fault, payload, faultContext) : payload }
  }
}

interface ReadDocument {
  readonly terms: ReadonlyMap<string, number>
  readonly vector: Float32Array
}

// Okapi BM25's usual constants: how soon a repeated word stops counting, and how much the length matters.
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
/** Maximum number of terms of a query, more than any real question has. */
const QUERY_TERMS_MAX = 512
const LOOKUPS_PER_TURN = 20_000

/** Returns BM25 as a share of the best possible score, so that scores of different queries are comparable. */
async function scoreDocuments(
  query: string,
  documents: readonly ReadDocument[],
  signal: AbortSignal,
): Promise<number[]> {
  const takeTurn = createTurns(LOOKUPS_PER_TURN, signal)
  const queryTerms = new Set(listTerms(query).slice(0, QUERY_TERMS_MAX))
  const queryVector = embedText(query, VECTOR_DIMENSIONS)
  const lengths = documents.map(({ terms }) => sumValues(terms))
  const averageLength = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / documents.length)
  const rarity = new Map<string, number>()
  for (const term of queryTerms) {
    const holders = documents.filter(({ terms }) => terms.has(term)).length
    rarity.set(term, Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5)))
    await takeTurn(documents.length)
  }
  const best = sumValues(rarity) * (SATURATION + 1)
  const scores: number[] = []
  for (const [index, { terms, vector }] of documents.entries()) {
    const lengthFactor = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * ((lengths[index] ?? 0) / averageLength)
    let score = 0
    for (const [term, weight] of rarity) {
      const count = terms.get(term) ?? 0
      score += (weight * count * (SATURATION + 1)) / (count + SATURATION * lengthFactor)
    }
    const shared = best === 0 ? 0 : Math.sqrt(score / best)
    const related = Math.max(0, cosine(queryVector, vector))
    scores.push(Math.min(1, Math.max(0, TERM_SHARE * shared + (1 - TERM_SHARE) * related)))
    await takeTurn(rarity.size)
  }
  return scores
}

function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of listTerms(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

function sumValues(values: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const value of values.values()) sum += value
  return sum
}
