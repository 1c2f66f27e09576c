import type { NanoUsd } from '../../kernel/money.ts'
import { countSearchUnits, readDocuments } from '../../providers/answers/rerank-answer.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import { countInput, countUnits, priceTokens, type ModelPrice } from '../catalog/catalog.ts'
import type { PricedCount } from '../inference/inference.ts'
import { TextTokens } from '../../kernel/tokens/text-tokens.ts'

/** The usage of a ranking. */
export interface RerankUse {
  readonly searchUnits: number
  /** Null if they were not counted. */
  readonly tokens: number | null
}

type CountTokens = (text: string) => number

export function priceRerank(price: ModelPrice, use: RerankUse, countPrompt: () => number): PricedCount {
  if (price.unit === 'token') {
    const tokens = use.tokens ?? countPrompt()
    return { priceNanoUsd: priceOfTokens(price, tokens), counted: countInput(tokens) }
  }
  const units = price.unit === 'search' ? use.searchUnits : 1
  return { priceNanoUsd: price.nanoUsdPerUnit * BigInt(units), counted: countUnits(units) }
}

/**
 * Returns the amount to hold: the maximum cost, or less if the balance is lower, but at least the cost of one chunk per document.
 */
export function boundPrice(
  price: ModelPrice,
  body: RerankRequest,
  countTokens: CountTokens,
): { wantedNanoUsd: NanoUsd; leastNanoUsd: NanoUsd } {
  if (price.unit === 'token') {
    const counted = priceOfTokens(price, countRerankTokens(body, countTokens))
    return { wantedNanoUsd: counted, leastNanoUsd: counted }
  }
  const priceOf = (searchUnits: number) =>
    price.nanoUsdPerUnit * BigInt(price.unit === 'search' ? searchUnits : 1)
  return {
    wantedNanoUsd: priceOf(boundSearchUnits(body)),
    leastNanoUsd: priceOf(countSearchUnits(body.documents.length)),
  }
}

/** The query counts once for each document. */
export function countRerankTokens(body: RerankRequest, countTokens: CountTokens): number {
  const documents = readDocuments(body)
  const counted = (texts: readonly string[]): number => {
    const text = new TextTokens({ count: countTokens, wholeTokensMax: WHOLE_TOKENS_MAX, sampleMargin: 1 })
    for (const each of texts) text.add(each)
    return text.tokens
  }
  return counted([body.query]) * documents.length + counted(documents)
}

const WHOLE_TOKENS_MAX = 8_192

/** A long document is ranked in chunks, each counted as one document. The query takes a part of every chunk. */
const CHUNK_TOKENS = 500
const QUERY_TOKENS_MAX = 250
const CHUNKS_PER_DOCUMENT_MAX = 10

// A tokenizer never produces more tokens than bytes.
function boundSearchUnits(body: RerankRequest): number {
  const queryTokens = Math.min(Buffer.byteLength(body.query), QUERY_TOKENS_MAX)
  const chunksMax = Math.max(CHUNKS_PER_DOCUMENT_MAX, body.max_chunks_per_doc ?? 0)
  let chunks = 0
  for (const document of readDocuments(body)) {
    const needed = Math.ceil(Buffer.byteLength(document) / (CHUNK_TOKENS - queryTokens))
    chunks += Math.min(Math.max(needed, 1), chunksMax)
  }
  return countSearchUnits(chunks)
}

function priceOfTokens(price: Extract<ModelPrice, { unit: 'token' }>, promptTokens: number): NanoUsd {
  return priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens: 0 })
}
