import { expect, test } from 'vitest'

import {
  imageWork,
  inputImage,
  inputImageUri,
  videoWork,
} from '../../../../tests/upstreams/media/media-call.ts'
import { toFalImageRequest, toFalVideoRequest } from './fal-models.ts'

test('Kontext makes an image, edits one, and joins several at three addresses', () => {
  const model = 'fal-ai/flux-pro/kontext'
  const ask = (images: (typeof inputImage)[]) =>
    toFalImageRequest(model, imageWork({ images, size: '1024x1024' }))
  expect(ask([])).toEqual({
    endpoint: 'fal-ai/flux-pro/kontext/text-to-image',
    input: { prompt: 'a boat', num_images: 1, aspect_ratio: '1:1' },
  })
  expect(ask([inputImage])).toMatchObject({ endpoint: model, input: { image_url: inputImageUri } })
  expect(ask([inputImage, inputImage])).toMatchObject({
    endpoint: 'fal-ai/flux-pro/kontext/multi',
    input: { image_urls: [inputImageUri, inputImageUri] },
  })
})

test('Ideogram hears of quality and style in its own words, and of a mask at its own address', () => {
  const work = imageWork({ images: [inputImage], mask: inputImage, quality: 'high', style: 'realistic' })
  expect(toFalImageRequest('fal-ai/ideogram/v3', work)).toMatchObject({
    endpoint: 'fal-ai/ideogram/v3/edit',
    input: { mask_url: inputImageUri, rendering_speed: 'QUALITY', style: 'REALISTIC' },
  })
})

test('Recraft is not told how many, because it makes one', () => {
  const { input } = toFalImageRequest(
    'fal-ai/recraft/v3/text-to-image',
    imageWork({ style: 'digital_illustration' }),
  )
  expect(input).toEqual({ prompt: 'a boat', style: 'digital_illustration' })
})

test('each video model has its own durations, and an address of its own for images', () => {
  const hailuo = 'fal-ai/minimax/hailuo-02/standard/text-to-video'
  const work = videoWork({ durationSeconds: 7, seed: 7, aspectRatio: '16:9', resolution: '720p' })
  expect(toFalVideoRequest(hailuo, work)).toEqual({
    endpoint: hailuo,
    input: { prompt: 'a boat', duration: '10' },
  })
  expect(toFalVideoRequest('fal-ai/luma-dream-machine/ray-2', { ...work, image: inputImage })).toEqual({
    endpoint: 'fal-ai/luma-dream-machine/ray-2/image-to-video',
    input: {
      prompt: 'a boat',
      duration: '9s',
      image_url: inputImageUri,
      aspect_ratio: '16:9',
      resolution: '720p',
    },
  })
})

test('a model that is not known is told what most take', () => {
  expect(toFalVideoRequest('fal-ai/new', videoWork({ seed: 7, negativePrompt: 'rain' }))).toEqual({
    endpoint: 'fal-ai/new',
    input: { prompt: 'a boat', duration: '5', seed: 7, negative_prompt: 'rain' },
  })
})
