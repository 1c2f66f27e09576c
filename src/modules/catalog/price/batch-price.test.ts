import { expect, test } from 'vitest'
import type { CatalogModel, TokenPrice } from '../catalog-model.ts'
import { atBatchPrice, readFactor } from './batch-price.ts'

const price: TokenPrice = {
  unit: 'token',
  inputNanoUsdPer1m: 150_000_001n,
  cachedInputNanoUsdPer1m: 75_000_000n,
  outputNanoUsdPer1m: 600_000_000n,
  longContext: [],
}
const modelOf = (members: Partial<TokenPrice>, priceVersion = 'file-1') =>
  ({ id: 'm', price: { ...price, ...members }, priceVersion }) as unknown as CatalogModel

const HANDED = { kind: 'handed', vendorMillionths: 500_000n } as const

test('a line that was handed over costs what the vendor gives, rounded up, and its bill names the factor', () => {
  const model = atBatchPrice(modelOf({}), HANDED)
  expect(model.price).toMatchObject({ inputNanoUsdPer1m: 75_000_001n, outputNanoUsdPer1m: 300_000_000n })
  expect(model.priceVersion).toBe('file-1++b500000')
  expect(atBatchPrice(modelOf({}, '7+3'), HANDED).priceVersion).toBe('7+3+b500000')
})

test('the factors of the operator come before that of the vendor, and lines asked one by one cost the whole price without one', () => {
  const own = modelOf({ batchMillionths: 1_000_000n, batchSingleMillionths: 0n })
  expect(atBatchPrice(own, HANDED)).toBe(own)
  expect(atBatchPrice(own, { kind: 'single' }).price).toMatchObject({ outputNanoUsdPer1m: 0n })
  const plain = modelOf({})
  expect(atBatchPrice(plain, { kind: 'single' })).toBe(plain)
})

test('a factor in a bill is read, and anything else there is not', () => {
  expect([readFactor('b500000'), readFactor('b'), readFactor('c1'), readFactor('b-1')]).toEqual([
    500_000n,
    null,
    null,
    null,
  ])
})
