import type { NanoUsd } from '../../../kernel/money.ts'
import type { CatalogModel } from '../catalog-model.ts'
import { priceTokens } from './price.ts'

/** For models whose catalog entry has no limit: the values of the largest models. */
const CONTEXT_TOKENS_UNKNOWN = 2_000_000
const OUTPUT_TOKENS_UNKNOWN = 131_072

/**
 * Returns the most that one answer of the model can cost: its whole context and its longest answer, at its highest rates. Null
 * for a model that is priced by what it delivers, which the gateway counts itself.
 */
export function highestPrice({ price, contextTokens, maxOutputTokens }: CatalogModel): NanoUsd | null {
  if (price.unit !== 'token') return null
  const promptTokens = contextTokens ?? CONTEXT_TOKENS_UNKNOWN
  const completionTokens = maxOutputTokens ?? contextTokens ?? OUTPUT_TOKENS_UNKNOWN
  const counts = { promptTokens, cachedTokens: 0, completionTokens, audioCompletionTokens: completionTokens }
  const written = { cacheWriteTokens: promptTokens, cacheWriteHourTokens: promptTokens }
  return [{}, written, { audioPromptTokens: promptTokens }]
    .map((kind) => priceTokens(price, { ...counts, ...kind }))
    .reduce((highest, one) => (one > highest ? one : highest))
}
