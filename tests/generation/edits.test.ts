import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { describePicture, download, paintPng } from './pictures.ts'
import { waitForTask } from './wait-for-task.ts'

const EDITS = '/v1/images/edits'
const UPSCALE = '/v1/images/upscale'
const CUT_OUT = '/v1/images/bg-remove'
const EDIT = { model: 'gpt-image-1.5', prompt: 'Make it green', response_format: 'url' }
const MEGABYTE = 1024 * 1024

let gateway: TestGateway
let pictureServer: Server
let picture: Buffer
let pictureUrl: string
let ownUrl: string

beforeAll(async () => {
  picture = await paintPng()
  pictureServer = createServer((request, response) => {
    if (request.url === '/picture') response.setHeader('content-type', 'image/png').end(picture)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => pictureServer.listen(0, '127.0.0.1', resolve))
  const { port } = pictureServer.address() as AddressInfo
  pictureUrl = `http://127.0.0.1:${port}/picture`
  gateway = await startTestGateway({ settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` } })
  const { body } = await post('/v1/images/generations', { ...EDIT, prompt: 'A cube' })
  ownUrl = body.data[0].url
})

afterAll(async () => {
  await gateway.close()
  pictureServer.close()
})

const post = (path: string, body: unknown) => gateway.request('POST', path, { body })
const dataUri = () => `data:image/png;base64,${picture.toString('base64')}`

async function postForm(path: string, fields: Record<string, string | Blob | Blob[]>): Promise<TestAnswer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const answer = await fetch(gateway.baseUrl + path, { method: 'POST', headers, body: form })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

const pictureBlob = (bytes: Uint8Array<ArrayBuffer> = new Uint8Array(picture)) =>
  new Blob([bytes], { type: 'image/png' })

test('an invalid address of the gateway is refused and not fetched', async () => {
  const { status, body } = await post(EDITS, { ...EDIT, image: `${gateway.baseUrl}/media/nonsense.png` })
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'image'])
})

describe('an edit', () => {
  test.each<[string, () => unknown, number?]>([
    ['a data URI', dataUri],
    ['base64', () => picture.toString('base64')],
    ['an address', () => pictureUrl],
    ['an object with an address', () => ({ url: pictureUrl })],
    ['an object with base64', () => ({ b64: picture.toString('base64') })],
    ['a list', () => [dataUri(), { url: pictureUrl }], 2],
    ['an address of the gateway itself', () => ownUrl],
  ])('accepts its image as %s', async (_, image, count = 1) => {
    const { status, body } = await post(EDITS, { ...EDIT, image: image() })
    expect([status, body.usage]).toEqual([200, { images: 1, cost_usd: count === 1 ? 0.065 : 0.07 }])
    expect(await describePicture((await download(body.data[0].url)).bytes)).toMatch(/^png /)
  })

  test('accepts its images and mask as a form', async () => {
    const form = { ...EDIT, n: '2', image: [pictureBlob(), pictureBlob()], mask: pictureBlob() }
    const { status, body } = await postForm(EDITS, form)
    expect([status, body.data.length, body.usage.cost_usd]).toEqual([200, 2, 0.15])
  })

  test('accepts several images as image[], as clients name them', async () => {
    const { status } = await postForm(EDITS, { ...EDIT, 'image[]': [pictureBlob(), pictureBlob()] })
    expect(status).toBe(200)
  })

  test('is a task of type edit if the model is slow', async () => {
    const { status, body } = await postForm(EDITS, {
      model: 'flux-kontext-pro',
      prompt: 'x',
      image: pictureBlob(),
      'metadata[order]': 'seven',
    })
    expect(status).toBe(202)
    const task = await waitForTask(gateway, body.task_id)
    expect([task.status, task.task_type, task.cost_usd]).toEqual(['completed', 'edit', 0.04])
    expect(task.metadata).toEqual({ order: 'seven' })
  })

  test('needs a model that edits', async () => {
    const answer = await post(EDITS, { ...EDIT, model: 'flux-schnell', image: dataUri() })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'model' })
  })

  test.each<[string, object, object]>([
    ['no image', {}, { code: 'missing_required_parameter', param: 'image' }],
    ['an empty list', { image: [] }, { code: 'invalid_value', param: 'image' }],
    ['what is no base64', { image: 'no base64!' }, { code: 'invalid_value', param: 'image' }],
    ['what is no image', { image: 'aGVsbG8gd29ybGQ=' }, { code: 'invalid_value', param: 'image' }],
    ['a data URI that is none', { image: 'data:,hello' }, { code: 'invalid_value', param: 'image' }],
    [
      'a file of the machine',
      { image: { url: 'file:///etc/passwd' } },
      { code: 'invalid_value', param: 'image.url' },
    ],
    ['a private address', { image: 'http://10.0.0.1/x.png' }, { code: 'invalid_value', param: 'image' }],
    [
      'an object of another kind',
      { image: { path: 'x' } },
      { code: 'missing_required_parameter', param: 'image.url' },
    ],
  ])('with %s is 400', async (_, fields, error) => {
    expectEnvelope(await post(EDITS, { ...EDIT, ...fields }), 400, error)
  })

  test('an edit whose address has no content is 400 and names the field', async () => {
    const answer = await post(EDITS, { ...EDIT, image: pictureUrl.replace('picture', 'gone') })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'image' })
  })

  test('an edit of more than 20 MB is 413, as a form and as JSON', async () => {
    const large = new Uint8Array(21 * MEGABYTE)
    large.set(picture)
    const asForm = await postForm(EDITS, { ...EDIT, image: pictureBlob(large) })
    const asJson = await post(EDITS, { ...EDIT, image: Buffer.from(large).toString('base64') })
    expect([asForm.status, asForm.body.error.code]).toEqual([413, 'request_too_large'])
    expect([asJson.status, asJson.body.error.code]).toEqual([413, 'request_too_large'])
  })

  test('in another format than JSON or multipart is 415', async () => {
    const answer = await gateway.request('POST', EDITS, {
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type'])
  })
})

describe('an upscale', () => {
  test('makes the image larger by the factor, by default two', async () => {
    for (const [scale, size, cost] of [
      [undefined, '64x48', 0.03],
      [4, '128x96', 0.12],
    ]) {
      const { status, body } = await post(UPSCALE, { image: dataUri(), scale })
      expect(status).toBe(202)
      const task = await waitForTask(gateway, body.task_id)
      expect([task.status, task.task_type, task.model, task.cost_usd]).toEqual([
        'completed',
        'upscale',
        'clarity-upscaler',
        cost,
      ])
      expect(await describePicture((await download(task.result.data[0].url)).bytes)).toContain(size)
    }
  })

  test('accepts a form', async () => {
    const { status, body } = await postForm(UPSCALE, { image: pictureBlob(), scale: '2' })
    expect(status).toBe(202)
    expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
  })

  test('an upscale by another factor is 400', async () => {
    const answer = await post(UPSCALE, { image: dataUri(), scale: 3 })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'scale' })
  })

  test('without an image is 400', async () => {
    expectEnvelope(await post(UPSCALE, {}), 400, { code: 'missing_required_parameter', param: 'image' })
  })

  test('an upscale by a model of another kind is 400 and names its route', async () => {
    const answer = await post(UPSCALE, { image: dataUri(), model: 'flux-dev' })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'model' })
    expect(answer.body.error.message).toContain('/v1/images/generations')
  })
})

describe('background removal', () => {
  test('returns an image in the requested format', async () => {
    for (const [format, contentType] of [
      [undefined, 'image/png'],
      ['webp', 'image/webp'],
    ]) {
      const { status, body } = await post(CUT_OUT, { image: pictureUrl, output_format: format })
      expect(status).toBe(202)
      const task = await waitForTask(gateway, body.task_id)
      expect([task.status, task.task_type, task.cost_usd]).toEqual(['completed', 'bg_remove', 0.002])
      expect((await download(task.result.data[0].url)).contentType).toBe(contentType)
    }
  })

  test('accepts a form', async () => {
    expect((await postForm(CUT_OUT, { image: pictureBlob() })).status).toBe(202)
  })

  test('in a format without transparency is 400', async () => {
    const answer = await post(CUT_OUT, { image: dataUri(), output_format: 'jpeg' })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'output_format' })
  })
})
