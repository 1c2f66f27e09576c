import sharp from 'sharp'
import { expect, test } from 'vitest'
import { firstFileOf, mediaCall, picture, pixelOf, sandboxInNoTime } from '../testing/media-client.ts'

const { provider } = sandboxInNoTime()

test.for([
  [2, 'png'],
  [4, 'jpeg'],
  [2, 'webp'],
] as const)('upscaling by %i keeps the image and its format %s', async ([scale, format]) => {
  const image = await picture({ side: 100, format })
  const file = firstFileOf(
    await provider.upscale.start(mediaCall({ kind: 'upscale', image, scale, prompt: null } as const)),
  )
  expect(await sharp(file).metadata()).toMatchObject({ width: 100 * scale, height: 100 * scale, format })
  const [red = 0, , blue = 0] = await pixelOf(file, 50 * scale, 50 * scale)
  expect(red).toBeGreaterThan(200)
  expect(blue).toBeLessThan(60)
})

test('an image that would become too large is refused', async () => {
  const image = {
    bytes: await sharp({ create: { width: 4096, height: 4096, channels: 3, background: '#fff' } })
      .png()
      .toBuffer(),
    contentType: 'image/png',
  }
  const upscaling = provider.upscale.start(
    mediaCall({ kind: 'upscale', image, scale: 4, prompt: null } as const),
  )
  await expect(upscaling).rejects.toMatchObject({ isRequestAtFault: true })
})

test('upscaling can be made to fail by its prompt', async () => {
  const work = {
    kind: 'upscale',
    image: await picture(),
    scale: 2,
    prompt: '[[sandbox:error status=429]]',
  } as const
  await expect(provider.upscale.start(mediaCall(work))).rejects.toMatchObject({ details: { status: 429 } })
})

test.for(['png', 'webp'] as const)(
  'the background is removed and the subject stays, as %s',
  async (outputFormat) => {
    const image = await picture({ side: 300, format: 'jpeg' })
    const file = firstFileOf(
      await provider.backgroundRemoval.start(mediaCall({ kind: 'bg_remove', image, outputFormat } as const)),
    )
    expect(await sharp(file).metadata()).toMatchObject({
      width: 300,
      height: 300,
      format: outputFormat,
      hasAlpha: true,
    })
    for (const [x, y] of [
      [0, 0],
      [299, 150],
      [150, 40],
    ] as const)
      expect((await pixelOf(file, x, y))[3]).toBeLessThan(10)
    expect((await pixelOf(file, 150, 150))[3]).toBeGreaterThan(250)
  },
)

test('transparent areas stay transparent', async () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90" fill="#fff"/>' +
    '<rect x="30" y="30" width="30" height="30" fill="#000"/></svg>'
  const hole = await sharp({ create: { width: 10, height: 10, channels: 4, background: '#000' } })
    .png()
    .toBuffer()
  const bytes = await sharp(Buffer.from(svg))
    .ensureAlpha()
    .composite([{ input: hole, left: 40, top: 40, blend: 'dest-out' }])
    .png()
    .toBuffer()
  const file = firstFileOf(
    await provider.backgroundRemoval.start(
      mediaCall({
        kind: 'bg_remove',
        image: { bytes, contentType: 'image/png' },
        outputFormat: 'png',
      } as const),
    ),
  )
  expect((await pixelOf(file, 45, 45))[3]).toBe(0)
  expect((await pixelOf(file, 34, 34))[3]).toBe(255)
  expect((await pixelOf(file, 5, 5))[3]).toBe(0)
})

test('an image of one pixel works', async () => {
  const bytes = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } })
    .png()
    .toBuffer()
  const image = { bytes, contentType: 'image/png' }
  for (const outputFormat of ['png', 'webp'] as const) {
    const answer = await provider.backgroundRemoval.start(
      mediaCall({ kind: 'bg_remove', image, outputFormat } as const),
    )
    expect((await sharp(firstFileOf(answer)).metadata()).width).toBe(1)
  }
})
