import { expect, test } from 'vitest'
import { COUNTED_NOTHING } from '../catalog/catalog.ts'
import { costOfWork } from './cost-of-work.ts'

const route = { provider: 'p', upstreamModel: 'm' }
const costing = (rates: unknown) => ({ costs: [{ provider: 'p', model: 'm', version: '1/0', rates }] })
const AN_IMAGE = { unit: 'image', amount: '5000', multipliers: [] }

test('work costs what was counted of it, and an unknown amount if nothing was', () => {
  expect(costOfWork(costing(AN_IMAGE), route, 'u+2000')).toEqual({ nanoUsd: 10_000n, version: '1/0' })
  expect(costOfWork(costing(AN_IMAGE), route, COUNTED_NOTHING)).toBe(undefined)
})

test('a cost in a form that this version does not know is unknown', () => {
  expect(costOfWork(costing({ unit: 'of another release' }), route, 'u+2000')).toBe(undefined)
})
