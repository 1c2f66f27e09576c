import { expect, test } from 'vitest'
import type { OfferedAdjustment } from '../../offer/offer.ts'
import type { CatalogModel } from '../catalog-model.ts'
import { createCatalog } from '../catalog.ts'
import { createPriceAdjustments } from './price-adjustments.ts'
import { readTerms, toStoredTerms, type GivenTerms } from './price-terms.ts'

const NOW_MS = Date.UTC(2027, 0, 1)
const PLACE = { accountId: 'account', projectId: 'project' }
const [MODEL] = createCatalog().list({ category: 'llm' })

let version = 0n
function adjustment(given: GivenTerms, members: Partial<OfferedAdjustment> = {}): OfferedAdjustment {
  version += 1n
  return {
    version,
    accountId: null,
    projectId: null,
    model: null,
    given,
    terms: toStoredTerms(readTerms(given)),
    effectiveFromMs: NOW_MS,
    effectiveUntilMs: null,
    authorKeyId: null,
    reason: null,
    createdAtMs: 0,
    withdrawnAtMs: null,
    ...members,
  }
}

function model(): CatalogModel {
  if (MODEL === undefined) throw new Error('the catalog is empty')
  return MODEL
}

/** The version of the adjustment that counts, or null. */
function counting(adjustments: readonly OfferedAdjustment[], place = PLACE, atMs = NOW_MS): string | null {
  const { priceVersion = '' } = createPriceAdjustments(adjustments).adjust(model(), place, atMs)
  return priceVersion.split('+')[1] ?? null
}

test('the nearest adjustment counts, and only that one', () => {
  const { id } = model()
  const nearestFirst = [
    adjustment({ percent: 1 }, { projectId: 'project', model: id }),
    adjustment({ percent: 2 }, { projectId: 'project' }),
    adjustment({ percent: 3 }, { accountId: 'account', model: id }),
    adjustment({ percent: 4 }, { accountId: 'account' }),
    adjustment({ percent: 5 }, { model: id }),
    adjustment({ percent: 6 }),
  ]
  for (let left = nearestFirst; left.length > 0; left = left.slice(1))
    expect(counting(left.toReversed())).toBe(String(left[0]?.version))
  expect(counting([])).toBe(null)
})

test('others are not concerned', () => {
  const others = [
    adjustment({ percent: 1 }, { projectId: 'another' }),
    adjustment({ percent: 1 }, { accountId: 'another' }),
    adjustment({ percent: 1 }, { model: 'another' }),
    adjustment({ percent: 1 }, { withdrawnAtMs: 1 }),
    adjustment({ per_unit: { unit: 'image', usd: 1 } }, { projectId: 'project' }),
  ]
  expect(counting(others)).toBe(null)
  const ofAll = adjustment({ percent: 1 })
  expect(counting([...others, ofAll])).toBe(String(ofAll.version))
})

test('the project Default has the id of its account', () => {
  const ofDefault = adjustment({ percent: 1 }, { projectId: 'account' })
  const adjustments = createPriceAdjustments([ofDefault])
  const versionIn = (projectId: string | null) =>
    adjustments.adjust(model(), { accountId: 'account', projectId }, NOW_MS).priceVersion
  expect(versionIn(null)).toBe(`${model().priceVersion}+${ofDefault.version}`)
  expect(versionIn('account')).toBe(versionIn(null))
  expect(versionIn('project')).toBe(model().priceVersion)
})

test('a millisecond decides where one begins and ends, and the one that began last counts while it lasts', () => {
  const base = adjustment({ percent: -10 }, { effectiveFromMs: 0 })
  const sale = adjustment({ percent: -50 }, { effectiveFromMs: NOW_MS, effectiveUntilMs: NOW_MS + 10 })
  const at = (atMs: number) => counting([sale, base], PLACE, atMs)
  expect([NOW_MS - 1, NOW_MS - 0.001, NOW_MS, NOW_MS + 9.999, NOW_MS + 10].map(at)).toEqual(
    [base, base, sale, sale, base].map((one) => String(one.version)),
  )
})

test('a price that no list names is left as it is, and the same model is the same object', () => {
  const adjustments = createPriceAdjustments([adjustment({ percent: 1 })])
  const { priceVersion: _, ...without } = model()
  expect(adjustments.adjust(without, PLACE, NOW_MS)).toBe(without)
  const once = adjustments.adjust(model(), PLACE, NOW_MS)
  expect(adjustments.adjust(model(), PLACE, NOW_MS)).toBe(once)
})

test('what cannot be read is named and not applied', () => {
  const odd = adjustment({ percent: 1 }, { terms: { kind: 'moon' } })
  const adjustments = createPriceAdjustments([odd])
  expect(adjustments.problems).toEqual([expect.stringContaining(`${odd.version}: `)])
  expect(adjustments.adjust(model(), PLACE, NOW_MS)).toBe(model())
})
