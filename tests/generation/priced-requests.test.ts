import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { openAiImageWire } from '../upstreams/media/openai-image-wire.ts'
import { startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { VENDOR_KEY, VENDOR_WIRES } from '../upstreams/media/vendor-wires.ts'
import { paintPng } from './pictures.ts'
import { waitForTask } from './wait-for-task.ts'

const PATH = '/v1/images/generations'

let openai: VendorServer
let google: VendorServer
let xai: VendorServer
let fal: VendorServer
let gateway: TestGateway
let key: string
let picture: string

const startVendor = (id: keyof typeof VENDOR_WIRES) =>
  startVendorServer(VENDOR_WIRES[id]?.wire ?? (() => null))

beforeAll(async () => {
  openai = await startVendorServer(openAiImageWire)
  ;[google, xai, fal] = await Promise.all([startVendor('google'), startVendor('xai'), startVendor('fal')])
  gateway = await startTestGateway({
    settings: {
      OPENAI_API_KEY: VENDOR_KEY,
      OPENAI_BASE_URL: `${openai.origin}/v1`,
      GOOGLE_API_KEY: VENDOR_KEY,
      GOOGLE_BASE_URL: `${google.origin}${VENDOR_WIRES['google']?.basePath}`,
      XAI_API_KEY: VENDOR_KEY,
      XAI_BASE_URL: `${xai.origin}${VENDOR_WIRES['xai']?.basePath}`,
      FAL_API_KEY: VENDOR_KEY,
      FAL_BASE_URL: `${fal.origin}${VENDOR_WIRES['fal']?.basePath}`,
      PARKWAY_BOOTSTRAP_CREDIT_USD: '1000',
    },
  })
  key = await createKey(gateway, { name: 'live', env: 'live' })
  picture = `data:image/png;base64,${(await paintPng(64, 32)).toString('base64')}`
})

afterAll(async () => {
  await gateway.close()
  await Promise.all([openai.close(), google.close(), xai.close(), fal.close()])
})

beforeEach(() => {
  for (const vendor of [openai, google, xai, fal]) vendor.requests.length = 0
})

const post = (path: string, body: object) => gateway.request('POST', path, { key, body })
const costOf = ({ headers }: { headers: Headers }) => Number(headers.get('x-gateway-cost-usd'))
/** Returns the text of a form field. */
const fieldOf = (text: string, name: string) =>
  new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(text)?.[1]

describe('an image is priced as the size that the upstream is asked for', () => {
  test.each([
    ['gpt-image-1.5', {}, '1024x1024', 0.04],
    ['gpt-image-1.5', { size: 'auto' }, '1024x1024', 0.04],
    ['gpt-image-1.5', { aspect_ratio: '16:9' }, '1536x1024', 0.06],
    ['gpt-image-1.5', { aspect_ratio: '9:16' }, '1024x1536', 0.06],
    ['gpt-image-1.5', { aspect_ratio: '1:1' }, '1024x1024', 0.04],
    ['gpt-image-2', { aspect_ratio: '16:9' }, '1536x1024', 0.105],
    ['gpt-image-2', { aspect_ratio: '16:9', size: '2048x1152' }, '2048x1152', 0.175],
    ['dall-e-3', { aspect_ratio: '16:9' }, '1792x1024', 0.08],
    ['dall-e-3', { aspect_ratio: '2:3', quality: 'hd' }, '1024x1792', 0.12],
    ['dall-e-3', {}, '1024x1024', 0.04],
  ])('%s with %j: %s costs $%d', async (model, members, size, costUsd) => {
    const answer = await post(PATH, { model, prompt: 'A cube', ...members })
    expect([answer.status, costOf(answer)]).toEqual([200, costUsd])
    expect(openai.requests.map(({ body }) => body)).toEqual([expect.objectContaining({ model, size })])
  })

  test('as a task too', async () => {
    const { body } = await gateway.request('POST', PATH, {
      key,
      headers: { prefer: 'respond-async' },
      body: { model: 'gpt-image-1.5', prompt: 'A cube', aspect_ratio: '3:2' },
    })
    const task = await waitForTask(gateway, body.task_id, key)
    expect([task.status, task.cost_usd]).toEqual(['completed', 0.06])
    expect(openai.requests[0]?.body).toMatchObject({ size: '1536x1024' })
  })

  test('an edit keeps the shape of its image, and costs the most expensive possible shape', async () => {
    const edit = { model: 'gpt-image-1.5', prompt: 'Make it night', image: picture }
    const [kept, square] = [
      await post('/v1/images/edits', edit),
      await post('/v1/images/edits', { ...edit, size: '1024x1024' }),
    ]
    expect([costOf(kept), costOf(square)]).toEqual([0.065, 0.045])
    expect(openai.requests.map(({ text }) => fieldOf(text, 'size'))).toEqual([undefined, '1024x1024'])
  })

  test('an edit costs its images, its mask, and both again for each image that is made', async () => {
    const edit = { model: 'gpt-image-1.5', prompt: 'Make it night', size: '1024x1024' }
    const costs = async (members: object) =>
      costOf(await post('/v1/images/edits', { ...edit, image: picture, ...members }))
    expect(await costs({})).toBe(0.045)
    expect(await costs({ image: Array(16).fill(picture) })).toBe(0.12)
    expect(await costs({ mask: picture })).toBe(0.05)
    expect(await costs({ model: 'gpt-image-2', image: [picture, picture] })).toBe(0.0946)
    const two = { model: 'gemini-3-pro-image', image: [picture, picture], n: 2 }
    expect(await costs(two)).toBe(0.2728)
    expect(google.requests).toHaveLength(2)
  })

  test('an edit is held with the price of its images', async () => {
    const poor = await createKey(gateway, { name: 'poor', env: 'live', limit_usd: 0.1 })
    const edit = (image: unknown) =>
      gateway.request('POST', '/v1/images/edits', {
        key: poor,
        body: { model: 'gpt-image-1.5', prompt: 'Make it night', size: '1024x1024', image },
      })
    expect((await edit(Array(16).fill(picture))).status).toBe(402)
    expect(openai.requests).toEqual([])
    expect((await edit(picture)).status).toBe(200)
  })

  test.each([
    ['gemini-3-pro-image', '1024x1024', undefined, 0.134],
    ['gemini-3-pro-image', '2048x2048', '2K', 0.134],
    ['gemini-3-pro-image', '4096x4096', '4K', 0.2412],
    ['gemini-nano-banana-2.1', '2048x1152', '2K', 0.0504],
    ['gemini-nano-banana-2.1', '4096x2304', '4K', 0.0756],
  ])('%s at %s is %s and costs $%d', async (model, size, imageSize, costUsd) => {
    const answer = await post(PATH, { model, prompt: 'A cube', size })
    expect([answer.status, costOf(answer)]).toEqual([200, costUsd])
    const text = google.requests[0]?.text ?? ''
    expect(/"imageSize":"([^"]+)"/.exec(text)?.[1]).toBe(imageSize)
  })

  test.each(['21:9', '16:9', '3:2', '4:3', '4:5', '9:21'])(
    'flux-dev in %s is one megapixel',
    async (ratio) => {
      const { body } = await post(PATH, { model: 'flux-dev', prompt: 'A cube', aspect_ratio: ratio })
      const task = await waitForTask(gateway, body.task_id, key)
      expect([task.status, task.cost_usd]).toEqual(['completed', 0.025])
      const asked = fal.requests.find(({ method }) => method === 'POST')?.text ?? ''
      const [, width, height] = /"image_size":\{"width":(\d+),"height":(\d+)/.exec(asked) ?? []
      const pixels = Number(width) * Number(height)
      expect(pixels).toBeGreaterThan(900_000)
      expect(pixels).toBeLessThanOrEqual(1024 * 1024)
    },
  )
})

test('an id that OpenAI has retired falls back to its successor', async () => {
  const error = {
    message: 'The model does not exist',
    type: 'invalid_request_error',
    code: 'model_not_found',
  }
  openai.replyNext({ status: 404, body: { error } })
  const answer = await post(PATH, { model: 'dall-e-3', prompt: 'A cube', aspect_ratio: '16:9' })
  expect([answer.status, costOf(answer)]).toEqual([200, 0.08])
  expect(openai.requests.map(({ body }) => body)).toEqual([
    expect.objectContaining({ model: 'dall-e-3', size: '1792x1024' }),
    expect.objectContaining({ model: 'gpt-image-1.5', size: '1536x1024' }),
  ])
})

describe('a member of an image request', () => {
  test.each([
    { input_fidelity: 'high' },
    { service_tier: 'priority' },
    { provider: { order: ['dear'] } },
    { models: ['dall-e-3'] },
    { num_inference_steps: 500 },
    { extra_body: { n: 9 } },
  ])('a member of an image request that changes the bill is refused by name: %j', async (members) => {
    const [param = ''] = Object.keys(members)
    const requests = [
      post(PATH, { model: 'gpt-image-1.5', prompt: 'A cube', ...members }),
      post('/v1/images/edits', { model: 'gpt-image-1.5', prompt: 'A cube', image: picture, ...members }),
      post(PATH, { model: 'flux-schnell', prompt: 'A cube', ...members }),
    ]
    for (const { status, body } of await Promise.all(requests)) {
      expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
    }
    expect([...openai.requests, ...fal.requests]).toEqual([])
  })

  test('a member of an image request that is free reaches the upstream, and unknown ones do not', async () => {
    const plain = { moderation: 'low', output_compression: 50, user: 'someone' }
    const odd = { N: 10, Quality: 'high', turbo: true, input_fidelity: 'low', partial_images: 0, store: true }
    const { status } = await post(PATH, { model: 'gpt-image-1.5', prompt: 'A cube', ...plain, ...odd })
    expect(status).toBe(200)
    expect(openai.requests[0]?.body).toEqual({
      ...plain,
      model: 'gpt-image-1.5',
      prompt: 'A cube',
      n: 1,
      size: '1024x1024',
      quality: 'medium',
    })
  })
})

describe('a video', () => {
  test.each([
    ['1920x1080', '720p', '16:9', 0.42],
    ['640x480', '480p', '4:3', 0.3],
  ])('in %s is requested as it is priced: %s in %s', async (resolution, name, ratio, costUsd) => {
    const video = { model: 'grok-imagine-video', prompt: 'Waves', duration: 6, resolution }
    const { body } = await post('/v1/videos/generations', video)
    const task = await waitForTask(gateway, body.task_id, key)
    expect(task.status).toBe('completed')
    expect(task.cost_usd / task.usage.seconds).toBeCloseTo(costUsd / 6, 9)
    const asked = xai.requests.find(({ method }) => method === 'POST')
    expect(asked?.body).toMatchObject({ resolution: name, aspect_ratio: ratio })
  })

  test.each([
    [{ n: 2 }, 'one video'],
    [{ fps: 60 }, 'frame rate'],
    [{ seconds: '8' }, '`duration`'],
    [{ generate_audio: false }, '`audio`'],
    [{ quality: 'high' }, '`resolution`'],
  ])('refuses %j, and names the right member', async (members, hint) => {
    const video = { model: 'grok-imagine-video', prompt: 'Waves', ...members }
    const { status, body } = await post('/v1/videos/generations', video)
    const [param = ''] = Object.keys(members)
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
    expect(body.error.message).toContain(hint)
    expect(xai.requests).toEqual([])
  })

  test('may state a count of one, and unknown members are not sent', async () => {
    const video = {
      model: 'grok-imagine-video',
      prompt: 'Waves',
      n: 1,
      fps: null,
      service_tier: 'priority',
      turbo: 1,
    }
    const { status, body } = await post('/v1/videos/generations', video)
    expect(status).toBe(202)
    await waitForTask(gateway, body.task_id, key)
    const asked = xai.requests.find(({ method }) => method === 'POST')?.text
    expect(asked).not.toMatch(/service_tier|turbo|"n"|fps/)
  })

  test('is not longer than its model allows', async () => {
    const video = { model: 'gemini-omni-1.1-flash', prompt: 'Waves', duration: 20 }
    const { status, body } = await post('/v1/videos/generations', video)
    expect([status, body.error.param]).toEqual([400, 'duration'])
  })
})

test.each([
  ['/v1/audio/music', { prompt: 'A waltz', n: 2 }, 'n'],
  ['/v1/audio/music', { prompt: 'A waltz', music_length_ms: 300_000 }, 'music_length_ms'],
  ['/v1/audio/transcriptions', { model: 'whisper-1', file: 'UklGRg==', include: ['logprobs'] }, 'include'],
  [
    '/v1/audio/transcriptions',
    { model: 'whisper-1', file: 'UklGRg==', known_speaker_names: ['a'] },
    'known_speaker_names',
  ],
])('%s refuses %j', async (path, members, param) => {
  const { status, body } = await post(path, members)
  expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', param])
})
