import type { NanoUsd } from '../../../src/kernel/money.ts'
import { priceTokens, priceUnits, unitRate } from '../../../src/modules/catalog/price/price.ts'
import { findSold } from '../models.ts'
import type { InvoiceLine } from '../vendors/invoice-line.ts'

const NANO_USD_PER_USD = 1e9
/** OpenAI's list price of audio in a prompt, for models without a price of their own. */
const AUDIO_USD_PER_1M = 32

/** Prices a line of a vendor's invoice as the gateway sells it. Work without a price costs what the vendor's list says. */
export function priceLine(line: InvoiceLine): NanoUsd {
  const { counts, extras, factor, pictures } = line
  const model = findSold(line.vendor, line.model)
  if (model === null) throw new Error(`nobody sells ${line.model} of ${line.vendor}`)
  const { price } = model
  const listedUsd = extras.reduce((sum, { usd }) => sum + usd, 0)
  const listed = BigInt(Math.ceil(listedUsd * NANO_USD_PER_USD))
  if (price.unit !== 'token') {
    const { count = 1, size = null, quality = null, given = 0 } = pictures ?? {}
    // Given pictures have one price here, whatever their size, which must not be below the vendor's.
    const sold = BigInt(given * count) * (price.nanoUsdPerInputImage ?? 0n)
    return priceUnits(unitRate(price, { size, quality }), count) + (sold > listed ? sold : listed)
  }
  const { audioPromptTokens: heard = 0 } = counts
  const unpriced = price.audioInputNanoUsdPer1m === undefined ? heard : 0
  const audio = BigInt(Math.ceil((unpriced * AUDIO_USD_PER_1M * NANO_USD_PER_USD) / 1e6))
  const tokens = priceTokens(price, { ...counts, promptTokens: counts.promptTokens - unpriced })
  return BigInt(Math.ceil(Number(tokens) * factor)) + audio + listed
}
