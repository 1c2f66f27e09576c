import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { priceTokens, type CatalogModel } from '../../catalog/catalog.ts'
import { outputLimitOf, type AskedMembers } from '../../inference/inference.ts'

const BYTES_PER_TOKEN = 4

/**
 * About what a line may cost: its prompt, and as many tokens of output as it allows. A line without a limit counts for its prompt only,
 * because models allow answers that nearly no prompt gets.
 */
export function estimateLine({ price }: CatalogModel, body: unknown, bytes: number): NanoUsd {
  if (price.unit !== 'token') return price.nanoUsdPerUnit
  const completionTokens = isRecord(body) ? outputTokensOf(body) : 0
  return priceTokens(price, {
    promptTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    cachedTokens: 0,
    completionTokens,
  })
}

function outputTokensOf(body: AskedMembers): number {
  return (outputLimitOf(body) ?? 0) * (body.n ?? 1)
}
