import { expect, test } from 'vitest'

import { imageWork } from '../../../../tests/upstreams/media/media-call.ts'
import { splitImages } from './split-images.ts'

test('the parts make as many images as requested, each with its own seed', () => {
  const pieces = splitImages(imageWork({ count: 5, seed: 7 }), 2)
  expect(pieces.map(({ count, seed }) => [count, seed])).toEqual([
    [2, 7],
    [2, 9],
    [1, 11],
  ])
  expect(splitImages(imageWork({ count: 1 }), 4)).toEqual([imageWork({ count: 1 })])
})
