import type { NanoUsd } from '../../kernel/money.ts'
import { countSearchUnits, readDocuments } from '../../providers/rerank-answer.ts'
import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import { priceTokens, type ModelPrice } from '../catalog/catalog.ts'
import { TextTokens } from '../inference/inference.ts'

/** What a ranking used. */
export interface RerankUse {
  readonly searchUnits: number
  /** Null where nobody has counted them. */
  readonly tokens: number | null
}

type CountTokens = (text: string) => number

export function priceRerank(price: ModelPrice, use: RerankUse, countPrompt: () => number): NanoUsd {
  if (price.unit === 'token') return priceOfTokens(price, use.tokens ?? countPrompt())
  return price.nanoUsdPerUnit * BigInt(price.unit === 'search' ? use.searchUnits : 1)
}

/** How much is held for a request: all it can cost, or as much as there is as long as that covers whole documents. */
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

/** The query is read anew with each document. */
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

/** A long document is ranked in chunks, and each counts as one; the query takes a part of every chunk. */
const CHUNK_TOKENS = 500
const QUERY_TOKENS_MAX = 250
const CHUNKS_PER_DOCUMENT_MAX = 10

// No tokenizer makes more tokens than there are bytes.
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
