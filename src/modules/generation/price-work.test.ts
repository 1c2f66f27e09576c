import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  ImageWork,
  MediaWork,
  MusicWork,
  SpeechWork,
  VideoWork,
} from '../../providers/media/media-work.ts'
import { createCatalog, type CatalogModel } from '../catalog/catalog.ts'
import { completeWork } from './complete-work.ts'
import { estimateWork, priceOfWork, priceOutput } from './price-work.ts'

const image = (fields: Partial<ImageWork<never>> = {}): ImageWork<never> => ({
  kind: 'image',
  prompt: 'a cat',
  count: 1,
  size: null,
  aspectRatio: null,
  quality: null,
  style: null,
  background: null,
  outputFormat: null,
  seed: null,
  images: [],
  mask: null,
  extra: {},
  ...fields,
})
const video = (fields: Partial<VideoWork<never>> = {}): VideoWork<never> => ({
  kind: 'video',
  prompt: 'a cat',
  image: null,
  durationSeconds: 5,
  aspectRatio: null,
  resolution: null,
  seed: null,
  negativePrompt: null,
  withAudio: null,
  ...fields,
})
const music: MusicWork = {
  kind: 'music',
  prompt: 'a song',
  lyrics: null,
  isInstrumental: true,
  durationSeconds: 30,
  outputFormat: 'mp3',
}
const speech: SpeechWork = {
  kind: 'speech',
  input: 'Grüße 👋',
  voice: 'nova',
  format: 'mp3',
  speed: 1,
  instructions: null,
  language: null,
}

function modelOf(category: string, price: object, bounds: object = {}): CatalogModel {
  const routes = [{ provider: 'p', model: 'm' }]
  const entry = { id: 'm', name: 'M', vendor: 'V', category, price, bounds, routes }
  const model = createCatalog({ source: { models: [entry] } }).resolve('m')
  if (!model) throw new Error('no model')
  return model
}

function estimate(model: CatalogModel, work: MediaWork<unknown>): bigint {
  return estimateWork(priceOfWork(model, work), work)
}

const images = modelOf('image', {
  unit: 'image',
  usd: 0.04,
  multipliers: { size: { '1024x1536': 1.5 }, quality: { low: 0.25, high: 4 } },
})
const seconds = modelOf('video', {
  unit: 'second',
  usd: 0.4,
  multipliers: { resolution: { '4k': 2 }, audio: { off: 0.5 } },
})

describe('the maximum cost of work', () => {
  test('is the price per image, times the number, times size and quality', () => {
    expect(estimate(images, image())).toBe(40_000_000n)
    expect(estimate(images, image({ count: 3, size: '1024x1536', quality: 'high' }))).toBe(720_000_000n)
    expect(estimate(images, image({ quality: 'low' }))).toBe(10_000_000n)
  })

  test('includes every input image and the mask, for each image or video that is made', () => {
    const edits = modelOf('image', { unit: 'image', usd: 0.04, input_image_usd: 0.005 })
    const costs = (fields: Partial<ImageWork<string>>) => estimate(edits, { ...image(), ...fields })
    expect(costs({})).toBe(40_000_000n)
    expect(costs({ images: ['a'] })).toBe(45_000_000n)
    expect(costs({ images: Array<string>(16).fill('a') })).toBe(120_000_000n)
    expect(costs({ images: ['a'], mask: 'm' })).toBe(50_000_000n)
    expect(costs({ images: ['a', 'b'], count: 3 })).toBe(150_000_000n)
    const clips = modelOf('video', { unit: 'second', usd: 0.05, input_image_usd: 0.002 })
    expect(estimate(clips, video())).toBe(250_000_000n)
    expect(estimate(clips, { ...video(), image: 'a' })).toBe(252_000_000n)
  })

  test('is the price per second, times the requested seconds, by resolution and audio', () => {
    expect(estimate(seconds, video())).toBe(2_000_000_000n)
    expect(estimate(seconds, video({ resolution: '4k', withAudio: false }))).toBe(2_000_000_000n)
    expect(estimate(modelOf('music', { unit: 'second', usd: 0.005 }), music)).toBe(150_000_000n)
  })

  test('is that of the nearest resolution if the size is given in pixels', () => {
    const price = {
      unit: 'second',
      usd: 0.1,
      multipliers: { resolution: { '720p': 2, '1080p': 4, '4k': 8 } },
    }
    const model = modelOf('video', price, { resolutions: ['540p', '720p', '1080p', '4k'] })
    const cost = (resolution: string) => estimate(model, video({ resolution }))
    expect(['960x540', '720x1280', '1440x1440', '3840x2160'].map(cost)).toEqual([
      500_000_000n,
      1_000_000_000n,
      2_000_000_000n,
      4_000_000_000n,
    ])
  })

  test('depends on the duration if the vendor does not sell by the second', () => {
    const price = { unit: 'second', usd: 0.1, multipliers: { duration: { '9': 1.112 } } }
    const model = modelOf('video', price)
    expect(estimate(model, video())).toBe(500_000_000n)
    expect(estimate(model, video({ durationSeconds: 9 }))).toBe(1_000_800_000n)
  })

  test('counts the characters of speech as graphemes', () => {
    expect(estimate(modelOf('tts', { unit: 'character', usd: 0.000015 }), speech)).toBe(7n * 15_000n)
  })

  test('counts instructions of speech that are sent to an upstream, 16 bytes as a character', () => {
    const price = { unit: 'character', usd: 0.000015 }
    const told = { ...speech, instructions: 'é'.repeat(20) }
    expect(estimate(modelOf('tts', price), told)).toBe((7n + 3n) * 15_000n)
    const routesOf = (provider: string, model: string) => ({
      ...modelOf('tts', price),
      routes: [{ provider, model, priority: 0, weight: 1, timeouts: {} }],
    })
    expect(completeWork(routesOf('openai', 'gpt-4o-mini-tts'), told)).toEqual(told)
    for (const deaf of [routesOf('openai', 'tts-1-hd'), routesOf('elevenlabs', 'eleven_v3')])
      expect(completeWork(deaf, told)).toEqual({ ...told, instructions: null })
  })

  test('is one price for an upscaled or cut-out image, and for a request', () => {
    const upscale: MediaWork<string> = { kind: 'upscale', image: 'x', scale: 2, prompt: null }
    expect(estimate(modelOf('upscale', { unit: 'image', usd: 0.03 }), upscale)).toBe(30_000_000n)
    expect(estimate(modelOf('image', { unit: 'request', usd: 0.1 }), image({ count: 4 }))).toBe(100_000_000n)
  })
})

describe('the actual cost of work', () => {
  test('counts the images that were made', () => {
    const work = image({ count: 4 })
    const price = priceOfWork(images, work)
    expect(priceOutput(price, work, { files: 3 })).toBe(120_000_000n)
    expect(priceOutput(price, work, { files: 0 })).toBe(0n)
  })

  test('counts the input images once for each image that was made, up to the requested number', () => {
    const edits = modelOf('image', { unit: 'image', usd: 0.04, input_image_usd: 0.005 })
    const work: MediaWork<string> = { ...image({ count: 2 }), images: ['a', 'b'] }
    const price = priceOfWork(edits, work)
    const costs = [0, 1, 2, 3].map((files) => priceOutput(price, work, { files }))
    expect(costs).toEqual([0n, 50_000_000n, 100_000_000n, 140_000_000n])
  })

  test('counts the reported seconds, or the requested ones if none are reported', () => {
    const work = video()
    const price = priceOfWork(seconds, work)
    expect(priceOutput(price, work, { files: 1, seconds: 4.5 })).toBe(1_800_000_000n)
    expect(priceOutput(price, work, { files: 1 })).toBe(2_000_000_000n)
    expect(priceOutput(price, work, { files: 1, seconds: Number.NaN })).toBe(2_000_000_000n)
  })

  test('counts more than requested if more was made, except for fractions of a second', () => {
    const film = video()
    const price = priceOfWork(seconds, film)
    expect(priceOutput(price, film, { files: 1, seconds: 5.9 })).toBe(2_000_000_000n)
    expect(priceOutput(price, film, { files: 1, seconds: 8.1 })).toBe(3_200_000_000n)
    const picture = image({ count: 1 })
    expect(priceOutput(priceOfWork(images, picture), picture, { files: 3 })).toBe(120_000_000n)
  })

  test('is never negative and limited, whatever an upstream reports', () => {
    const works = [
      [images, image({ count: 2, quality: 'high' })],
      [seconds, video({ resolution: '4k' })],
      [modelOf('tts', { unit: 'second', usd: 0.001 }), speech],
    ] as const
    fc.assert(
      fc.property(
        fc.constantFrom(...works),
        fc.nat({ max: 100 }),
        fc.option(fc.double(), { nil: undefined }),
        ([model, work], files, told) => {
          const price = priceOfWork(model, work)
          const cost = priceOutput(price, work, { files, seconds: told })
          expect(cost).toBeGreaterThanOrEqual(0n)
          expect(cost).toBeLessThanOrEqual(estimateWork(price, work) * 3_600n)
        },
      ),
    )
  })
})
