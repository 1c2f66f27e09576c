import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { priceTokens, type CatalogModel } from '../../catalog/catalog.ts'
import { outputLimitOf, type AskedMembers } from '../../inference/inference.ts'

const BYTES_PER_TOKEN = 4
/** More than any model writes. */
const OUTPUT_TOKENS_MAX = 1_000_000_000

/**
 * About what a line may cost: its prompt, and as many tokens of output as it allows. A line without a limit counts for its prompt only,
 * because models allow answers that nearly no prompt gets.
 */
export function estimateLine(
  { price, maxOutputTokens }: Pick<CatalogModel, 'price' | 'maxOutputTokens'>,
  body: unknown,
  bytes: number,
): NanoUsd {
  if (price.unit !== 'token') return price.nanoUsdPerUnit
  const completionTokens = isRecord(body) ? outputTokensOf(body, maxOutputTokens ?? OUTPUT_TOKENS_MAX) : 0
  return priceTokens(price, {
    promptTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    cachedTokens: 0,
    completionTokens,
  })
}

/** Endpoints that do not know these members let anything stand there. */
function outputTokensOf(body: AskedMembers, tokensMax: number): number {
  const tokens = Math.min(outputLimitOf(body) ?? 0, tokensMax) * (body.n ?? 1)
  return tokens > 0 ? Math.min(Math.trunc(tokens), OUTPUT_TOKENS_MAX) : 0
}
