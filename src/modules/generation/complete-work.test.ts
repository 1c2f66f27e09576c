import { expect, test } from 'vitest'

import { imageWork, videoWork } from '../../../tests/upstreams/media/media-call.ts'
import { createCatalog, type CatalogModel } from '../catalog/catalog.ts'
import { completeWork } from './complete-work.ts'
import { estimateWork, priceOfWork } from './price-work.ts'

const catalog = createCatalog({ now: () => 0 })

function modelOf(id: string): CatalogModel {
  const model = catalog.resolve(id)
  if (!model) throw new Error(`no model ${id}`)
  return model
}

test('a default quality or resolution is sent to the upstream by name', () => {
  expect(completeWork(modelOf('gpt-image-2'), imageWork())).toMatchObject({ quality: 'medium' })
  expect(completeWork(modelOf('wan-2.6-t2v'), videoWork())).toMatchObject({ resolution: '720p' })
})

test('requested values are kept, and values without a default stay unset', () => {
  const high = imageWork({ quality: 'high', size: '1024x1024' })
  expect(completeWork(modelOf('gpt-image-2'), high)).toEqual(high)
  expect(completeWork(modelOf('recraft-v3'), imageWork())).toEqual(imageWork())
  expect(completeWork(modelOf('veo-3.1'), videoWork())).toEqual(videoWork())
})

test.each([
  ['gpt-image-1.5', imageWork(), 0.034],
  ['gpt-image-2', imageWork(), 0.07],
  ['luma-ray-2', videoWork({ durationSeconds: 9 }), 1],
  ['luma-ray-2', videoWork({ durationSeconds: 9, resolution: '1920x1080' }), 4],
] as const)('%s is not sold below its cost', (id, work, costUsd) => {
  const model = modelOf(id)
  const complete = completeWork(model, work)
  const price = Number(estimateWork(priceOfWork(model, complete), complete)) / 1e9
  expect(price).toBeGreaterThanOrEqual(costUsd)
  expect(price).toBeLessThan(costUsd * 1.2)
})
