import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describePicture, download, paintPng } from '../generation/pictures.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(() => gateway.close())

describe('the OpenAI SDK', () => {
  test('makes images, as addresses', async () => {
    const answer = await client.images.generate({
      model: 'gpt-image-1.5',
      prompt: 'A lighthouse',
      n: 2,
      size: '1024x1024',
      quality: 'low',
      response_format: 'url',
    })
    expect(answer.data).toHaveLength(2)
    expect(await describePicture((await download(answer.data?.[0]?.url ?? '')).bytes)).toBe('png 1024x1024')
  })

  test('makes images, in the answer', async () => {
    const answer = await client.images.generate({
      model: 'gpt-image-1.5',
      prompt: 'A lighthouse',
      response_format: 'b64_json',
      output_format: 'jpeg',
      background: 'opaque',
      moderation: 'low',
    })
    expect(await describePicture(Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64'))).toMatch(/^jpeg /)
  })

  test('edits one image, and several with a mask', async () => {
    const picture = await paintPng(64, 64)
    const file = () => toFile(picture, 'picture.png', { type: 'image/png' })
    const one = await client.images.edit({ model: 'gpt-image-1.5', prompt: 'Greener', image: await file() })
    // OpenAI also returns PNG if the request names no format.
    expect(await describePicture(Buffer.from(one.data?.[0]?.b64_json ?? '', 'base64'))).toBe('png 64x64')
    const several = await client.images.edit({
      model: 'gpt-image-1.5',
      prompt: 'Together',
      image: [await file(), await file()],
      mask: await file(),
      n: 2,
      size: '1024x1024',
    })
    expect(several.data).toHaveLength(2)
  })

  test('gets an error with its code and field', async () => {
    const asked = client.images.generate({ model: 'gpt-image-1.5', prompt: 'x', size: '512x512' })
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'invalid_value', param: 'size' })
  })

  test('waits for a slow model, unless it prefers the task', async () => {
    const answer = await client.images.generate({ model: 'flux-schnell', prompt: 'x' })
    expect(answer.data?.[0]?.url).toMatch(/^http/)
    const inline = await client.images.generate({
      model: 'flux-schnell',
      prompt: 'x',
      response_format: 'b64_json',
    })
    const picture = Buffer.from(inline.data?.[0]?.b64_json ?? '', 'base64')
    expect(await describePicture(picture)).toMatch(/^(png|jpeg) /)
    const headers = { prefer: 'respond-async' }
    const task = await client.images.generate({ model: 'flux-schnell', prompt: 'x' }, { headers })
    expect(task).toMatchObject({ status: 'pending', poll_url: expect.stringMatching(/^\/v1\/tasks\//) })
  })
})
