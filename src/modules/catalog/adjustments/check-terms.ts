import { Compile } from 'typebox/compile'
import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { ModelPrice } from '../catalog-model.ts'
import type { TimedModel } from '../lookup/timed-model.ts'
import { concernsUnit } from './adjust-price.ts'
import { GIVEN_TERMS, readTerms, toStoredTerms, type PriceTerms } from './price-terms.ts'

const validator = Compile(Type.Object(GIVEN_TERMS, { additionalProperties: false }))

interface CheckOptions {
  /** The one that is named. Null: every model. */
  readonly model: TimedModel | null
  readonly nowMs: number
}

/** Returns the terms as they are stored. Throws `invalid_value` unless they can be applied to the model now and later. */
export function checkTerms(
  given: Readonly<Record<string, unknown>>,
  { model, nowMs }: CheckOptions,
): ReturnType<typeof toStoredTerms> {
  if (!validator.Check(given)) throw invalidValue('percent', 'Give either percent or per_unit.')
  const terms = readTerms(given)
  if (terms.kind === 'unit') checkAmounts(terms, model && pricesFrom(model, nowMs))
  return toStoredTerms(terms)
}

function checkAmounts(
  terms: Extract<PriceTerms, { kind: 'unit' }>,
  prices: readonly ModelPrice[] | null,
): void {
  const isDiscount = terms.nanoUsd < 0n || terms.outputNanoUsd < 0n
  if (prices === null) {
    if (isDiscount)
      throw invalidValue(
        'per_unit',
        'A discount of an amount needs a model: of another one it may be more than the price. Use percent.',
      )
    return
  }
  for (const price of prices) {
    if (!concernsUnit(terms, price.unit))
      throw invalidValue('per_unit.unit', `The model is priced by the unit '${price.unit}'.`)
    const [input, output] = leastAmounts(price)
    if (input + terms.nanoUsd < 0n || output + terms.outputNanoUsd < 0n)
      throw invalidValue('per_unit', 'The discount is more than a price of the model, now or later.')
  }
}

/** The price of now, and those of the future that are known. */
function pricesFrom({ first, later }: TimedModel, nowMs: number): readonly ModelPrice[] {
  const current = later.findLastIndex(({ fromMs }) => fromMs <= nowMs)
  const known = later.map(({ model }) => model.price)
  return current === -1 ? [first.price, ...known] : known.slice(current)
}

/** What input and output cost at least, but for cached input, which ends at zero. */
function leastAmounts(price: ModelPrice): readonly [bigint, bigint] {
  if (price.unit !== 'token') return [price.nanoUsdPerUnit, 0n]
  const rates = [price, ...price.longContext]
  return [
    least(rates.map(({ inputNanoUsdPer1m }) => inputNanoUsdPer1m)),
    least(rates.map(({ outputNanoUsdPer1m }) => outputNanoUsdPer1m)),
  ]
}

function least(amounts: readonly bigint[]): bigint {
  return amounts.reduce((left, right) => (right < left ? right : left))
}
