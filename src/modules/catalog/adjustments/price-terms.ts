import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidValue } from '../../../kernel/app-error.ts'
import { nanoUsdFromUsd, type NanoUsd } from '../../../kernel/money.ts'
import { PRICE_UNITS, type ModelPrice } from '../catalog-model.ts'

/** By how much a price list is changed: by a share of each amount, or by an amount for each unit. */
export type PriceTerms =
  | { readonly kind: 'percent'; readonly millionths: bigint }
  | {
      readonly kind: 'unit'
      readonly unit: ModelPrice['unit']
      /** For a million tokens of input, or for one unit. */
      readonly nanoUsd: NanoUsd
      /** For a million tokens of output. */
      readonly outputNanoUsd: NanoUsd
    }

/** A discount of everything. */
const PERCENT_MIN = -100
/** Eleven times the price: more is a slip of the keyboard. */
const PERCENT_MAX = 1_000
const UNIT_USD_MAX = 10_000

const unitUsd = (description: string) =>
  Type.Optional(Type.Number({ minimum: -UNIT_USD_MAX, maximum: UNIT_USD_MAX, description }))

/** As an operator gives them. Exactly one of the two. */
export const GIVEN_TERMS = {
  percent: Type.Optional(
    Type.Number({
      minimum: PERCENT_MIN,
      maximum: PERCENT_MAX,
      description:
        'A markup of so many percent of every amount of the price list; a discount if it is negative. Up to four decimals.',
    }),
  ),
  per_unit: Type.Optional(
    Type.Object(
      {
        unit: Type.Enum([...PRICE_UNITS], { description: 'Concerns only models that are priced by it.' }),
        input_usd_per_1m: unitUsd(
          'Added to every amount of input, for a million tokens. Negative: a discount.',
        ),
        output_usd_per_1m: unitUsd(
          'Added to every amount of output, for a million tokens. Negative: a discount.',
        ),
        usd: unitUsd('Added to the price of one unit. Negative: a discount. For all units but `token`.'),
      },
      {
        additionalProperties: false,
        description: 'A markup or discount of an amount for each unit, in US dollars.',
      },
    ),
  ),
}
const GivenTerms = Type.Object(GIVEN_TERMS)
export type GivenTerms = Static<typeof GivenTerms>

/** Reads what an operator gives. Throws `invalid_value`. */
export function readTerms({ percent, per_unit: perUnit }: GivenTerms): PriceTerms {
  if ((percent === undefined) === (perUnit === undefined))
    throw invalidValue('percent', 'Give either percent or per_unit.')
  if (percent !== undefined) return { kind: 'percent', millionths: readPercent(percent) }
  const { unit = 'token', usd, input_usd_per_1m: input, output_usd_per_1m: output } = perUnit ?? {}
  const isOfTokens = unit === 'token'
  if (isOfTokens ? usd !== undefined : input !== undefined || output !== undefined)
    throw invalidValue(
      'per_unit',
      `For the unit '${unit}', give ${isOfTokens ? 'input_usd_per_1m and output_usd_per_1m' : 'usd'}.`,
    )
  const nanoUsd = readUsd((isOfTokens ? input : usd) ?? 0)
  const outputNanoUsd = readUsd(output ?? 0)
  if (nanoUsd === 0n && outputNanoUsd === 0n) throw invalidValue('per_unit', 'It has no amount.')
  return { kind: 'unit', unit, nanoUsd, outputNanoUsd }
}

const MILLIONTHS_OF_PERCENT = 10_000

function readPercent(percent: number): bigint {
  if (!Number.isFinite(percent) || percent < PERCENT_MIN || percent > PERCENT_MAX)
    throw invalidValue('percent', `It is between ${PERCENT_MIN} and ${PERCENT_MAX}.`)
  const millionths = Math.round(percent * MILLIONTHS_OF_PERCENT)
  if (millionths / MILLIONTHS_OF_PERCENT !== percent)
    throw invalidValue('percent', 'It has up to four decimals.')
  return BigInt(millionths)
}

function readUsd(usd: number): NanoUsd {
  try {
    return nanoUsdFromUsd(usd)
  } catch {
    throw invalidValue('per_unit', 'An amount is finer than a nano-dollar.')
  }
}

const Amount = Type.String({ pattern: '^-?\\d{1,20}$' })
const StoredTerms = Type.Union([
  Type.Object({ kind: Type.Literal('percent'), millionths: Amount }),
  Type.Object({
    kind: Type.Literal('unit'),
    unit: Type.Enum([...PRICE_UNITS]),
    nanoUsd: Amount,
    outputNanoUsd: Amount,
  }),
])
const validator = Compile(StoredTerms)

export function toStoredTerms(terms: PriceTerms): Static<typeof StoredTerms> {
  return terms.kind === 'percent'
    ? { kind: terms.kind, millionths: String(terms.millionths) }
    : {
        kind: terms.kind,
        unit: terms.unit,
        nanoUsd: String(terms.nanoUsd),
        outputNanoUsd: String(terms.outputNanoUsd),
      }
}

/** Throws for what another release may have stored. */
export function fromStoredTerms(stored: unknown): PriceTerms {
  if (!validator.Check(stored))
    throw new Error('a price adjustment is stored in a form that this version does not know')
  return stored.kind === 'percent'
    ? { kind: stored.kind, millionths: BigInt(stored.millionths) }
    : {
        kind: stored.kind,
        unit: stored.unit,
        nanoUsd: BigInt(stored.nanoUsd),
        outputNanoUsd: BigInt(stored.outputNanoUsd),
      }
}
