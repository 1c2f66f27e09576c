import { describe, expect, test } from 'vitest'
import { CatalogInvalid, createCatalog } from '../catalog.ts'

const video = {
  id: 'film',
  name: 'Film',
  vendor: 'Us',
  category: 'video',
  price: { unit: 'second', usd: 0.1, multipliers: { resolution: { '4k': 2 }, audio: { off: 0.5 } } },
  routes: [{ provider: 'fal', model: 'film' }],
}

function load(entry: Record<string, unknown>) {
  return createCatalog({ source: { models: [{ ...video, ...entry }] } }).resolve('film')
}

describe('the bounds of a model', () => {
  test('are unlimited if the catalog has none', () => {
    expect(load({})?.bounds).toEqual({
      imagesMax: null,
      sizes: null,
      sizeDefault: null,
      qualities: null,
      qualityDefault: null,
      aspectRatios: null,
      resolutions: null,
      resolutionDefault: null,
      responseFormatDefault: 'url',
      durations: null,
      dimensions: null,
    })
  })

  test('have a list or a range of durations, and a default', () => {
    expect(
      load({ bounds: { duration_seconds: [8, 4], duration_default_seconds: 8 } })?.bounds.durations,
    ).toEqual({
      minSeconds: 4,
      maxSeconds: 8,
      allowedSeconds: [8, 4],
      defaultSeconds: 8,
    })
    expect(load({ bounds: { duration_seconds: { min: 3, max: 10 } } })?.bounds.durations).toEqual({
      minSeconds: 3,
      maxSeconds: 10,
      allowedSeconds: null,
      defaultSeconds: 3,
    })
  })

  test('are refused if they are inconsistent', () => {
    for (const bounds of [
      { duration_seconds: { min: 10, max: 3 } },
      { duration_seconds: [4, 8], duration_default_seconds: 5 },
      { duration_seconds: [] },
      { qualities: ['low', 'high'], quality_default: 'medium' },
      { resolutions: ['720p'], resolution_default: '1080p' },
      { images_max: 0 },
    ])
      expect(() => load({ bounds })).toThrow(CatalogInvalid)
    const byToken = { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 1 }
    expect(() => load({ price: byToken })).toThrow('is not priced by the token')
  })
})
