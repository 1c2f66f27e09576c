import { createHash } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import {
  PRICE_TRAITS,
  PRICE_UNITS,
  type ModelPrice,
  type PriceMultipliers,
  type TokenRates,
} from '../catalog-model.ts'

/** A price list as it is stored: exact integers, with what was derived from the vendor at the time, so that a bill can be computed again. */
const Amount = Type.String({ pattern: '^\\d{1,25}$' })
const Rates = Type.Object({
  input: Amount,
  cached: Amount,
  write: Type.Optional(Amount),
  hourWrite: Type.Optional(Amount),
  output: Amount,
})
const Batch = { batch: Type.Optional(Amount), batchSingle: Type.Optional(Amount) }
const StoredPrice = Type.Union([
  Type.Object({
    unit: Type.Literal('token'),
    ...Batch,
    ...Rates.properties,
    audioInput: Type.Optional(Amount),
    audioOutput: Type.Optional(Amount),
    longContext: Type.Array(Type.Object({ aboveTokens: Type.Integer(), ...Rates.properties })),
  }),
  Type.Object({
    unit: Type.Enum(PRICE_UNITS.filter((unit) => unit !== 'token')),
    ...Batch,
    amount: Amount,
    inputImage: Type.Optional(Amount),
    multipliers: Type.Array(
      Type.Object({ trait: Type.Enum([...PRICE_TRAITS]), value: Type.String(), millionths: Amount }),
    ),
  }),
])
export type StoredPrice = Static<typeof StoredPrice>
type StoredRates = Static<typeof Rates>

const validator = Compile(StoredPrice)

export function toStoredPrice(price: ModelPrice): StoredPrice {
  if (price.unit !== 'token')
    return {
      unit: price.unit,
      amount: String(price.nanoUsdPerUnit),
      ...(price.nanoUsdPerInputImage === undefined ? {} : { inputImage: String(price.nanoUsdPerInputImage) }),
      multipliers: listMultipliers(price.multipliers ?? {}),
      ...toBatch(price),
    }
  return {
    unit: 'token',
    ...toRates(price),
    ...(price.audioInputNanoUsdPer1m === undefined
      ? {}
      : { audioInput: String(price.audioInputNanoUsdPer1m) }),
    ...(price.audioOutputNanoUsdPer1m === undefined
      ? {}
      : { audioOutput: String(price.audioOutputNanoUsdPer1m) }),
    longContext: price.longContext.map((rates) => ({ aboveTokens: rates.aboveTokens, ...toRates(rates) })),
    ...toBatch(price),
  }
}

function toBatch({ batchMillionths, batchSingleMillionths }: ModelPrice) {
  return {
    ...(batchMillionths === undefined ? {} : { batch: String(batchMillionths) }),
    ...(batchSingleMillionths === undefined ? {} : { batchSingle: String(batchSingleMillionths) }),
  }
}

function fromBatch({ batch, batchSingle }: StoredPrice) {
  return {
    ...(batch === undefined ? {} : { batchMillionths: BigInt(batch) }),
    ...(batchSingle === undefined ? {} : { batchSingleMillionths: BigInt(batchSingle) }),
  }
}

/** Throws for what another release may have stored. */
export function fromStoredPrice(stored: unknown): ModelPrice {
  if (!validator.Check(stored))
    throw new Error('a price list is stored in a form that this version does not know')
  if (stored.unit !== 'token')
    return {
      unit: stored.unit,
      nanoUsdPerUnit: BigInt(stored.amount),
      ...(stored.inputImage === undefined ? {} : { nanoUsdPerInputImage: BigInt(stored.inputImage) }),
      ...(stored.multipliers.length === 0 ? {} : { multipliers: readMultipliers(stored.multipliers) }),
      ...fromBatch(stored),
    }
  return {
    unit: 'token',
    ...fromRates(stored),
    ...(stored.audioInput === undefined ? {} : { audioInputNanoUsdPer1m: BigInt(stored.audioInput) }),
    ...(stored.audioOutput === undefined ? {} : { audioOutputNanoUsdPer1m: BigInt(stored.audioOutput) }),
    longContext: stored.longContext.map((rates) => ({ aboveTokens: rates.aboveTokens, ...fromRates(rates) })),
    ...fromBatch(stored),
  }
}

/** The version of a price list of a file: equal lists have the same, in every process and release. */
export function filePriceVersion(price: ModelPrice): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(toStoredPrice(price)))
    .digest('hex')
  return `file-${digest.slice(0, 16)}`
}

function toRates(rates: TokenRates): StoredRates {
  return {
    input: String(rates.inputNanoUsdPer1m),
    cached: String(rates.cachedInputNanoUsdPer1m),
    ...(rates.cacheWriteNanoUsdPer1m === undefined ? {} : { write: String(rates.cacheWriteNanoUsdPer1m) }),
    ...(rates.cacheWriteHourNanoUsdPer1m === undefined
      ? {}
      : { hourWrite: String(rates.cacheWriteHourNanoUsdPer1m) }),
    output: String(rates.outputNanoUsdPer1m),
  }
}

function fromRates({ input, cached, write, hourWrite, output }: StoredRates): TokenRates {
  return {
    inputNanoUsdPer1m: BigInt(input),
    cachedInputNanoUsdPer1m: BigInt(cached),
    ...(write === undefined ? {} : { cacheWriteNanoUsdPer1m: BigInt(write) }),
    ...(hourWrite === undefined ? {} : { cacheWriteHourNanoUsdPer1m: BigInt(hourWrite) }),
    outputNanoUsdPer1m: BigInt(output),
  }
}

type StoredMultipliers = Extract<StoredPrice, { amount: string }>['multipliers']

function listMultipliers(multipliers: PriceMultipliers): StoredMultipliers {
  return PRICE_TRAITS.flatMap((trait) =>
    [...(multipliers[trait] ?? [])].map(([value, millionths]) => ({
      trait,
      value,
      millionths: String(millionths),
    })),
  )
}

function readMultipliers(stored: StoredMultipliers): PriceMultipliers {
  const read: Partial<Record<keyof PriceMultipliers, Map<string, bigint>>> = {}
  for (const { trait, value, millionths } of stored)
    (read[trait] ??= new Map()).set(value, BigInt(millionths))
  return read
}
