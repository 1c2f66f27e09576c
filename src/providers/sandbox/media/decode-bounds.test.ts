import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { InputFile } from '../../media/media-operation.ts'
import type { ImageWork } from '../../media/media-work.ts'
import { createSandboxProvider } from '../sandbox.ts'
import { sharedPixelRoom } from './images/pixel-room.ts'

let large: InputFile
beforeAll(async () => {
  // 20 million pixels in a few kilobytes.
  const image = sharp({
    create: { width: 5000, height: 4000, channels: 3, background: '#fff' },
    limitInputPixels: false,
  })
  large = { bytes: await image.png({ palette: true, colours: 2 }).toBuffer(), contentType: 'image/png' }
})

const TIMEOUTS = { connectMs: 1000, firstByteMs: 60_000, idleMs: 60_000 }
const edit = (images: readonly InputFile[]) => {
  const work: ImageWork<InputFile> = {
    kind: 'image',
    prompt: 'Make it night',
    count: 1,
    size: '256x256',
    aspectRatio: null,
    quality: null,
    style: null,
    background: null,
    outputFormat: null,
    seed: null,
    images,
    mask: null,
    extra: {},
  }
  const call = {
    work,
    upstreamModel: 'm',
    requestId: 'r',
    timeouts: TIMEOUTS,
    cancellation: new Cancellation(),
  }
  const { image } = createSandboxProvider()
  if (!image) throw new Error('the sandbox makes images')
  return image.start(call)
}

test('images with too many pixels together are refused before they are decoded', async () => {
  expect(large.bytes.length).toBeLessThan(64 * 1024)
  await expect(edit([large, large, large, large])).rejects.toMatchObject({
    details: { status: 400, upstreamParam: 'image' },
  })
})

test('the pixels that concurrent requests decode are limited in total', async () => {
  const made = [edit([large]), edit([large]), edit([large]), edit([large])]
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, sharedPixelRoom.pixels)
  }, 1)
  for (const output of await Promise.all(made)) expect(output).toMatchObject({ kind: 'done' })
  clearInterval(watch)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(48 * 1024 * 1024)
})
