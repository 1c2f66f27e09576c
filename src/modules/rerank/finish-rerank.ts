import { createToken } from '../../kernel/identifiers.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import { countSearchUnits, readDocuments } from '../../providers/answers/rerank-answer.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import { parsePayload, type WholeQuestion } from '../inference/inference.ts'
import { readCount } from '../../wires/token-usage.ts'
import { countRerankTokens, priceRerank, type RerankUse } from './rerank-price.ts'
import { invalidAnswer } from '../../providers/failures/upstream-error.ts'

interface RankedDocument {
  readonly index: number
  readonly relevance_score: number
}

/** Validates and sorts an upstream's ranking, meters it, and adds the requested members. */
export function finishRerank(
  payload: Buffer,
  question: WholeQuestion<RerankRequest>,
  countTokens: (text: string) => number,
): string {
  const { provider, model, requestedModel, request } = question
  const { body, record } = request
  const documents = readDocuments(body)
  const { members, list } = parsePayload(provider, payload, 'results')
  const ranked = list
    .map((entry) => readRanked(entry, provider, documents.length))
    .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, body.top_n ?? documents.length)
  if (ranked.length === 0) throw invalidAnswer(provider, 'it ranked no document')
  if (new Set(ranked.map(({ index }) => index)).size < ranked.length)
    throw invalidAnswer(provider, 'it ranked a document twice')

  const use = readUse(members, documents.length)
  const price = priceRerank(model.price, use, () => countRerankTokens(body, countTokens))
  if (use.tokens !== null)
    record.usage = { promptTokens: use.tokens, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }
  const cost = question.charge(price)
  return JSON.stringify({
    id: createToken('rerank-'),
    model: requestedModel,
    results: body.return_documents
      ? ranked.map((entry) => ({ ...entry, document: { text: documents[entry.index] ?? '' } }))
      : ranked,
    usage: {
      ...(use.tokens === null ? {} : { prompt_tokens: use.tokens, total_tokens: use.tokens }),
      search_units: use.searchUnits,
      cost_usd: usdFromNanoUsd(cost),
    },
    meta: { billed_units: { search_units: use.searchUnits } },
  })
}

function readRanked(entry: Record<string, unknown>, provider: string, documents: number): RankedDocument {
  const { index, relevance_score: score } = entry
  const isDocument = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < documents
  if (!isDocument || typeof score !== 'number')
    throw invalidAnswer(provider, 'it sent a ranking that is none')
  return { index, relevance_score: score }
}

function readUse({ meta, usage }: Record<string, unknown>, documents: number): RerankUse {
  const billed = isRecord(meta) ? meta['billed_units'] : undefined
  const searchUnits = isRecord(billed) ? readCount(billed['search_units']) : null
  const tokens = isRecord(usage) ? readCount(usage['total_tokens'] ?? usage['prompt_tokens']) : null
  return { searchUnits: searchUnits ?? countSearchUnits(documents), tokens }
}
