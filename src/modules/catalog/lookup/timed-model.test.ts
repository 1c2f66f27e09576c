import { expect, test } from 'vitest'
import { createCatalog, describeEntry } from '../catalog.ts'

const VIEWER = { accountId: 'a', projectId: null, environment: 'live' } as const
const MOMENT_MS = Date.UTC(2027, 0, 1)

const priceFrom = (version: bigint, effectiveFromMs: number, amount: string) => ({
  version,
  model: 'gpt-5.4',
  effectiveFromMs,
  price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 1 },
  rates: { unit: 'token', input: amount, cached: amount, output: amount, longContext: [] },
  costs: null,
  authorKeyId: null,
  reason: null,
  createdAtMs: 0,
  isOfFile: false,
  withdrawnAtMs: null,
})

test('a request a millisecond before the moment has the price before, and one in the moment the next', () => {
  const catalog = createCatalog({ now: () => MOMENT_MS - 60_000 })
  const ofFile = catalog.resolveFor(VIEWER, 'gpt-5.4')
  catalog.useOffer({
    adjustments: [],
    models: [],
    prices: [priceFrom(8n, MOMENT_MS + 1, '3'), priceFrom(7n, MOMENT_MS, '2')],
  })
  const at = (atMs: number) => catalog.resolveFor(VIEWER, 'gpt-5.4', atMs)
  expect(at(MOMENT_MS - 1)?.priceVersion).toBe(ofFile?.priceVersion)
  expect(at(MOMENT_MS - 0.001)?.priceVersion).toBe(ofFile?.priceVersion)
  expect(at(MOMENT_MS)).toMatchObject({ priceVersion: '7', price: { inputNanoUsdPer1m: 2n } })
  expect(at(MOMENT_MS + 0.999)?.priceVersion).toBe('7')
  expect(at(MOMENT_MS + 1)?.priceVersion).toBe('8')
  expect(at(MOMENT_MS)).toBe(at(MOMENT_MS))
  expect(catalog.list().find(({ id }) => id === 'gpt-5.4')?.priceVersion).toBe(ofFile?.priceVersion)
})

test('every model of the built-in catalog is described as an entry that leads to the same model', () => {
  const catalog = createCatalog()
  for (const { first } of catalog.listAll()) {
    const {
      priceVersion,
      priceFile: _,
      ...model
    } = catalog.checkEntry({ ...describeEntry(first), id: first.id }).model
    expect([first.id, priceVersion]).toEqual([first.id, first.priceVersion])
    expect({ ...model, routes: first.routes }).toEqual({ ...first, priceVersion: undefined })
  }
})

test('names of removed models lead nowhere, and work that has begun still finds them', () => {
  const catalog = createCatalog()
  const model = {
    id: 'gone',
    entry: {
      name: 'Gone',
      vendor: 'Test',
      category: 'llm',
      routes: [{ provider: 'openai', model: 'm' }],
    },
    visibility: null,
    version: 1n,
    createdAtMs: 0,
    updatedAtMs: 0,
  }
  const prices = [{ ...priceFrom(1n, 0, '1'), model: 'gone' }]
  catalog.useOffer({ adjustments: [], models: [{ ...model, removedAtMs: null }], prices })
  expect(catalog.resolve('gone')?.id).toBe('gone')
  catalog.useOffer({ adjustments: [], models: [{ ...model, removedAtMs: 5 }], prices })
  expect([catalog.resolve('gone'), catalog.find('gone')]).toEqual([undefined, undefined])
  expect(catalog.resolveForWork('gone')).toMatchObject({ id: 'gone', priceVersion: '1' })
})

test('a model without a price is not served', () => {
  const catalog = createCatalog()
  const entry = {
    name: 'Free',
    vendor: 'Test',
    category: 'llm',
    routes: [{ provider: 'openai', model: 'm' }],
  }
  const dates = { version: 1n, createdAtMs: 0, updatedAtMs: 0, removedAtMs: null }
  catalog.useOffer({
    adjustments: [],
    models: [{ id: 'free', entry, visibility: null, ...dates }],
    prices: [],
  })
  expect(catalog.resolve('free')).toBe(undefined)
})
