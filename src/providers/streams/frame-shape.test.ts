import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { chooseAspectRatio, chooseDuration, chooseResolution, chooseSize, readShape } from './frame-shape.ts'

const RATIOS = ['1:1', '16:9', '9:16', '4:3']

test('an offered ratio is used unchanged, any other becomes the nearest', () => {
  expect(chooseAspectRatio({ aspectRatio: '16:9', size: null }, RATIOS)).toBe('16:9')
  expect(chooseAspectRatio({ aspectRatio: '21:9', size: null }, RATIOS)).toBe('16:9')
  expect(chooseAspectRatio({ aspectRatio: null, size: '1024x1792' }, RATIOS)).toBe('9:16')
  expect(chooseAspectRatio({ aspectRatio: null, size: null }, RATIOS)).toBeNull()
  expect(chooseAspectRatio({ aspectRatio: 'wide', size: null }, RATIOS)).toBeNull()
  expect(chooseAspectRatio({ aspectRatio: '1:1', size: null }, [])).toBeNull()
})

test('a size is exact if one is given, and about a million pixels for a ratio', () => {
  expect(chooseSize({ aspectRatio: '1:1', size: '640x480' })).toEqual({ width: 640, height: 480 })
  expect(chooseSize({ aspectRatio: '16:9', size: null })).toEqual({ width: 1344, height: 768 })
  expect(chooseSize({ aspectRatio: null, size: 'auto' })).toBeNull()
})

test('a duration is never shorter than requested while a longer one is offered', () => {
  const offered = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), offered, (seconds, durations) => {
      const chosen = chooseDuration(seconds, durations)
      expect(durations).toContain(chosen)
      if (durations.some((duration) => duration >= seconds)) expect(chosen).toBeGreaterThanOrEqual(seconds)
    }),
  )
})

test('a resolution is found by its lines, in any notation', () => {
  expect(chooseResolution('1280x720', ['540p', '720p', '1080p'])).toBe('720p')
  expect(chooseResolution('1080P', ['540p', '720p', '1080p'])).toBe('1080p')
  expect(chooseResolution('4K', ['720p', '4k'])).toBe('4k')
  expect(chooseResolution('480p', ['540p', '720p'])).toBe('540p')
  expect(chooseResolution(null, ['540p'])).toBeNull()
  expect(chooseResolution('720p', [])).toBeNull()
})

test('an invalid shape gives none', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const shape = readShape(text)
      if (shape !== null) expect(Math.min(shape.width, shape.height)).toBeGreaterThan(0)
    }),
  )
})
