import sharp from 'sharp'
import { expect, test } from 'vitest'
import {
  filesOf,
  firstFileOf,
  imageWork,
  mediaCall,
  picture,
  pixelOf,
  sandboxInNoTime,
} from '../../testing/media-client.ts'

const { provider } = sandboxInNoTime()
const paint = (rest: Parameters<typeof imageWork>[0]) => provider.image.start(mediaCall(imageWork(rest)))

test.for([
  [{ size: '320x200' }, { width: 320, height: 200, format: 'png' }],
  [{ size: null }, { width: 1024, height: 1024, format: 'png' }],
  [{ size: 'auto' }, { width: 1024, height: 1024, format: 'png' }],
  [
    { size: null, aspectRatio: '16:9' },
    { width: 1368, height: 768, format: 'png' },
  ],
  [{ size: '1x1' }, { width: 16, height: 16, format: 'png' }],
  [
    { size: '64x64', outputFormat: 'jpeg' as const },
    { width: 64, height: 64, format: 'jpeg' },
  ],
  [
    { size: '64x64', outputFormat: 'webp' as const },
    { width: 64, height: 64, format: 'webp' },
  ],
] as const)('%o gives an image of that size and format', async ([rest, expected]) => {
  const answer = await paint(rest)
  expect(await sharp(firstFileOf(answer)).metadata()).toMatchObject(expected)
  expect(answer).toMatchObject({
    output: { files: [{ kind: 'bytes', contentType: `image/${expected.format}` }] },
  })
})

test('no image is larger than the limit', async () => {
  expect(await sharp(firstFileOf(await paint({ size: '99999x16' }))).metadata()).toMatchObject({
    width: 4096,
  })
})

test('the same work gives the same bytes in any process, another seed or prompt others', async () => {
  const first = firstFileOf(await paint({ seed: 7 }))
  const elsewhere = sandboxInNoTime().provider
  expect(firstFileOf(await elsewhere.image.start(mediaCall(imageWork({ seed: 7 }))))).toEqual(first)
  expect(firstFileOf(await paint({ seed: 8 }))).not.toEqual(first)
  expect(firstFileOf(await paint({ seed: 7, prompt: 'A blue whale' }))).not.toEqual(first)
})

test('several images are distinct', async () => {
  const files = filesOf(await paint({ count: 4 }))
  expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(4)
})

test('the prompt is drawn without any font of the system', async () => {
  const brightShareOf = async (prompt: string) => {
    const card = await sharp(firstFileOf(await paint({ size: '400x300', prompt })))
      .extract({ left: 40, top: 80, width: 320, height: 140 })
      .greyscale()
      .raw()
      .toBuffer()
    return card.filter((value) => value > 240).length / card.length
  }
  expect(await brightShareOf('')).toBe(0)
  expect(await brightShareOf('WWWW WWWW WWWW')).toBeGreaterThan(0.03)
})

test.for([
  '',
  '日本語のプロンプト 😀',
  '<script>&"\' ]]> \u0000\ud800',
  'word '.repeat(5000),
  'x'.repeat(30_000),
])('the prompt %j is drawn without an error', async (prompt) => {
  expect((await sharp(firstFileOf(await paint({ prompt, size: '128x128' }))).metadata()).width).toBe(128)
})

test('a transparent background is transparent', async () => {
  const file = firstFileOf(await paint({ background: 'transparent', size: '200x200' }))
  expect(await pixelOf(file, 2, 2)).toEqual([0, 0, 0, 0])
  expect((await pixelOf(file, 100, 60))[3]).toBeGreaterThan(100)
})

test('an edit keeps the image and writes the prompt on it', async () => {
  const image = await picture({ side: 200 })
  const file = firstFileOf(await paint({ images: [image], size: null }))
  expect(await sharp(file).metadata()).toMatchObject({ width: 200, height: 200 })
  expect(await pixelOf(file, 100, 100)).toEqual(await pixelOf(image.bytes, 100, 100))
  expect(await pixelOf(file, 5, 195)).not.toEqual(await pixelOf(image.bytes, 5, 195))
})

test.for(['transparent', 'white'])('an edit changes only where a mask is %s', async (kind) => {
  const image = await picture({ side: 200 })
  const hole = `<rect x="100" width="100" height="200" fill="#fff"/>`
  const halves =
    kind === 'white'
      ? `<rect width="200" height="200" fill="#000"/>${hole}`
      : `<rect width="100" height="200" fill="#000"/>`
  const mask = {
    bytes: await sharp(
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200">${halves}</svg>`),
    )
      .png()
      .toBuffer(),
    contentType: 'image/png',
  }
  const file = firstFileOf(await paint({ images: [image], mask, size: null }))
  expect(await pixelOf(file, 40, 20)).toEqual(await pixelOf(image.bytes, 40, 20))
  expect(await pixelOf(file, 160, 20)).not.toEqual(await pixelOf(image.bytes, 160, 20))
})

test('several images to edit are all shown', async () => {
  const images = [await picture({ side: 200 }), await picture({ side: 50, ground: '#00ff00' })]
  const file = firstFileOf(await paint({ images, size: null }))
  expect(await pixelOf(file, 8, 8)).toEqual([0, 255, 0, 255])
})

test('a file that is not an image is refused as an error of the request', async () => {
  const svg = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), contentType: 'image/png' }
  await expect(paint({ images: [svg] })).rejects.toMatchObject({
    isRequestAtFault: true,
    details: { status: 400, upstreamParam: 'image' },
  })
  const { bytes } = await picture()
  const cut = { bytes: bytes.subarray(0, 60), contentType: 'image/png' }
  await expect(paint({ images: [await picture(), cut] })).rejects.toMatchObject({
    details: { status: 400, upstreamParam: 'image[1]' },
  })
})

test('images can be made to fail', async () => {
  await expect(paint({ prompt: 'x [[sandbox:error status=503]]' })).rejects.toMatchObject({
    details: { status: 503 },
  })
  expect(firstFileOf(await paint({ prompt: 'x [[sandbox:empty]]' }))).toHaveLength(0)
  expect(firstFileOf(await paint({ prompt: 'x [[sandbox:garbage]]' })).toString()).toContain('not JSON')
  expect(firstFileOf(await paint({ prompt: 'x [[sandbox:huge-line bytes=100000]]' }))).toHaveLength(100_000)
  const plain = firstFileOf(await paint({ prompt: 'x' }))
  expect(firstFileOf(await paint({ prompt: 'x [[sandbox:latency ms=5]]' }))).toEqual(plain)
})
