import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { falWire } from '../../../../../tests/upstreams/media/fal-wire.ts'
import {
  imageWork,
  inputImage,
  inputImageUri,
  mediaCall,
  videoWork,
} from '../../../../../tests/upstreams/media/media-call.ts'
import { startVendorServer, type VendorServer } from '../../../../../tests/upstreams/media/vendor-server.ts'
import { createMediaProvider } from '../../../create-provider.ts'

let server: VendorServer

beforeAll(async () => {
  server = await startVendorServer(falWire)
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await server.close()
})

const fal = () => createMediaProvider('fal', { apiKeys: ['key-1'], baseUrl: server.origin })

/** Returns the endpoint and the input of the first request that the vendor received. */
const heard = () => server.requests.map(({ path, body }) => ({ endpoint: path.slice(1), input: body }))[0]

async function askImage(model: string, work: ReturnType<typeof imageWork>) {
  await fal()?.image?.start(mediaCall(work, model))
  return heard()
}

async function askVideo(model: string, work: ReturnType<typeof videoWork>) {
  await fal()?.video?.start(mediaCall(work, model))
  return heard()
}

test('Kontext makes an image, edits one, and joins several at three addresses', async () => {
  const model = 'fal-ai/flux-pro/kontext'
  const ask = (images: (typeof inputImage)[]) => {
    server.requests.length = 0
    return askImage(model, imageWork({ images, size: '1024x1024' }))
  }
  expect(await ask([])).toEqual({
    endpoint: 'fal-ai/flux-pro/kontext/text-to-image',
    input: { prompt: 'a boat', num_images: 1, aspect_ratio: '1:1' },
  })
  expect(await ask([inputImage])).toMatchObject({ endpoint: model, input: { image_url: inputImageUri } })
  expect(await ask([inputImage, inputImage])).toMatchObject({
    endpoint: 'fal-ai/flux-pro/kontext/multi',
    input: { image_url: inputImageUri, image_urls: [inputImageUri, inputImageUri] },
  })
})

test('Ideogram gets quality and style in its own terms, and a mask at its own address', async () => {
  const work = imageWork({ images: [inputImage], mask: inputImage, quality: 'high', style: 'realistic' })
  expect(await askImage('fal-ai/ideogram/v3', work)).toMatchObject({
    endpoint: 'fal-ai/ideogram/v3/edit',
    input: { mask_url: inputImageUri, rendering_speed: 'QUALITY', style: 'REALISTIC' },
  })
})

test('Recraft gets no seed, because it accepts none', async () => {
  const work = imageWork({ style: 'digital_illustration', seed: 7 })
  expect((await askImage('fal-ai/recraft/v3/text-to-image', work))?.input).toEqual({
    prompt: 'a boat',
    num_images: 1,
    style: 'digital_illustration',
  })
})

test('each video model has its own durations, and its own address for images', async () => {
  const hailuo = 'fal-ai/minimax/hailuo-02/standard/text-to-video'
  const work = videoWork({ durationSeconds: 7, seed: 7, aspectRatio: '16:9', resolution: '720p' })
  expect(await askVideo(hailuo, work)).toEqual({
    endpoint: hailuo,
    input: { prompt: 'a boat', duration: '10' },
  })
  server.requests.length = 0
  expect(await askVideo('fal-ai/luma-dream-machine/ray-2', { ...work, image: inputImage })).toEqual({
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

test('an unknown model gets the common parameters, whoever owns it', async () => {
  expect(await askVideo('someone/new', videoWork({ seed: 0, negativePrompt: 'rain' }))).toEqual({
    endpoint: 'someone/new',
    input: { prompt: 'a boat', duration: '5', seed: 0, negative_prompt: 'rain' },
  })
})
