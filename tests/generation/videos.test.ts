import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { download, paintPng } from './pictures.ts'
import { waitForTask } from './wait-for-task.ts'

const VIDEOS = '/v1/videos/generations'
const MUSIC = '/v1/audio/music'
const FILM = { model: 'wan-2.6-t2v', prompt: '[[sandbox:job ms=0]] Waves', duration: 5 }
const SONG = { model: 'elevenlabs-music', prompt: '[[sandbox:job ms=0]] A waltz', duration: 5 }

let gateway: TestGateway
let picture: string

beforeAll(async () => {
  gateway = await startTestGateway()
  picture = `data:image/png;base64,${(await paintPng(320, 180)).toString('base64')}`
})

afterAll(() => gateway.close())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.request('POST', path, { body, headers })
const balance = async () => (await gateway.request('GET', '/v1/tenants/me')).body

describe('a video', () => {
  test('is a task that ends with a video, charged by the second', async () => {
    const { status, body, headers } = await post(VIDEOS, {
      ...FILM,
      aspect_ratio: '9:16',
      metadata: { a: 1 },
    })
    expect([status, body.status, body.model]).toEqual([202, 'pending', 'wan-2.6-t2v'])
    expect(headers.get('retry-after')).toBe('5')
    const task = await waitForTask(gateway, body.task_id)
    expect(task).toMatchObject({
      status: 'completed',
      task_type: 'video',
      cost_usd: 0.5,
      usage: { seconds: 5, cost_usd: 0.5 },
      metadata: { a: 1 },
    })
    const { url } = task.result.data[0]
    expect([task.result.url, task.result.video_url]).toEqual([url, url])
    const { bytes, contentType } = await download(url)
    expect([contentType, bytes.subarray(4, 8).toString()]).toEqual(['video/mp4', 'ftyp'])
  })

  test('has the default duration of its model', async () => {
    const { body } = await post(VIDEOS, { model: 'hailuo-2', prompt: FILM.prompt })
    expect((await waitForTask(gateway, body.task_id)).usage).toEqual({ seconds: 6, cost_usd: 0.27 })
  })

  test('costs by resolution and audio', async () => {
    const { body } = await post(VIDEOS, {
      model: 'seedance-1.5',
      prompt: FILM.prompt,
      duration: 4,
      resolution: '480P',
      audio: false,
    })
    expect((await waitForTask(gateway, body.task_id)).cost_usd).toBe(0.052)
  })

  test('accepts its resolution in pixels, as the nearest of the model, and is priced as such', async () => {
    const costOf = async (resolution: string) => {
      const { status, body } = await post(VIDEOS, {
        model: 'seedance-1.5',
        prompt: FILM.prompt,
        duration: 4,
        resolution,
      })
      expect(status).toBe(202)
      return (await waitForTask(gateway, body.task_id)).cost_usd
    }
    expect(await costOf('1280x720')).toBe(await costOf('720p'))
    expect(await costOf('854x480')).toBe(await costOf('480p'))
  })

  test('begins with an image if the model supports it', async () => {
    const asked = { model: 'wan-2.6-i2v', prompt: FILM.prompt, duration: 5, image_url: picture }
    const { body } = await post(VIDEOS, asked)
    expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
  })

  test('is a task regardless of Prefer', async () => {
    const { status, body } = await post(VIDEOS, FILM, { prefer: 'wait=30' })
    expect([status, body.status]).toEqual([202, 'pending'])
    await waitForTask(gateway, body.task_id)
  })

  test('holds its credit while it is made, and releases it when it is cancelled', async () => {
    const before = await balance()
    const { body } = await post(VIDEOS, { ...FILM, prompt: '[[sandbox:job-endless]] Waves' })
    const { body: cancelled } = await gateway.request('POST', `${body.poll_url}/cancel`)
    expect([cancelled.status, cancelled.refund_amount_usd]).toEqual(['cancelled', 0.5])
    expect((await balance()).balance_usd).toBe(before.balance_usd)
  })

  test.each<[string, string, object]>([
    ['fails', '[[sandbox:job ms=0]][[sandbox:job-fail percent=0 status=500]]', { code: 'provider_error' }],
    ['is refused', '[[sandbox:job-fail percent=0 status=422]]', { type: 'invalid_request_error' }],
    ['is lost', '[[sandbox:job-lost percent=0]]', { code: 'provider_error' }],
    ['is never taken', '[[sandbox:error status=401]]', { code: 'invalid_api_key' }],
  ])('a video whose job %s is a failed task and is free', async (_, prompt, error) => {
    const before = await balance()
    const { body } = await post(VIDEOS, { ...FILM, prompt: `${prompt} Waves` })
    const task = await waitForTask(gateway, body.task_id)
    expect(task).toMatchObject({ status: 'failed', result: null, cost_usd: 0, error })
    expect((await balance()).balance_usd).toBe(before.balance_usd)
  })

  test('survives failed polls', async () => {
    const prompt = '[[sandbox:job ms=0]][[sandbox:job-check status=503 times=1]] Waves'
    const { body } = await post(VIDEOS, { ...FILM, prompt })
    expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
  })

  test.each<[string, object, object]>([
    ['without a prompt', { prompt: undefined }, { code: 'missing_required_parameter', param: 'prompt' }],
    ['of no time', { duration: 0 }, { code: 'invalid_value', param: 'duration' }],
    ['of 61 seconds', { duration: 61 }, { code: 'invalid_value', param: 'duration' }],
    ['of half a second', { duration: 0.5 }, { code: 'invalid_value', param: 'duration' }],
    ['of a duration the model has not', { duration: 7 }, { code: 'invalid_value', param: 'duration' }],
    ['of a ratio that is none', { aspect_ratio: 'wide' }, { code: 'invalid_value', param: 'aspect_ratio' }],
    [
      'of a ratio the model has not',
      { aspect_ratio: '5:1' },
      { code: 'invalid_value', param: 'aspect_ratio' },
    ],
    [
      'of a resolution the model has not',
      { resolution: '4k' },
      { code: 'invalid_value', param: 'resolution' },
    ],
    [
      'of an image, by a model of texts',
      { image_url: 'AAAA' },
      { code: 'unsupported_parameter', param: 'image_url' },
    ],
    [
      'without an image, by a model of images',
      { model: 'wan-2.6-i2v' },
      { code: 'missing_required_parameter', param: 'image_url' },
    ],
    [
      'of what is no image',
      { model: 'wan-2.6-i2v', image_url: 'aGVsbG8=' },
      { code: 'invalid_value', param: 'image_url' },
    ],
    ['by an image model', { model: 'flux-dev' }, { code: 'invalid_value', param: 'model' }],
  ])('%s is 400', async (_, fields, error) => {
    expectEnvelope(await post(VIDEOS, { ...FILM, ...fields }), 400, error)
  })

  test('is refused with the allowed durations', async () => {
    const { body } = await post(VIDEOS, { ...FILM, duration: 7 })
    expect(body.error.message).toBe("'duration' must be one of 5, 10, 15 seconds for 'wan-2.6-t2v'.")
  })
})

describe('music', () => {
  test('is a task that ends with a file, charged by the second', async () => {
    const { status, body } = await post(MUSIC, SONG)
    expect(status).toBe(202)
    const task = await waitForTask(gateway, body.task_id)
    expect(task).toMatchObject({
      status: 'completed',
      task_type: 'music',
      cost_usd: 0.025,
      usage: { seconds: 5, cost_usd: 0.025 },
    })
    expect((await download(task.result.data[0].url)).contentType).toBe('audio/mpeg')
  })

  test('is WAV if requested, and made by the only model by default', async () => {
    const { body } = await post(MUSIC, {
      ...SONG,
      model: undefined,
      output_format: 'wav',
      instrumental: true,
    })
    const task = await waitForTask(gateway, body.task_id)
    expect(task.model).toBe('elevenlabs-music')
    expect((await download(task.result.data[0].url)).contentType).toBe('audio/wav')
  })

  test.each<[string, object, object]>([
    ['without a prompt', { prompt: undefined }, { code: 'missing_required_parameter', param: 'prompt' }],
    ['of two seconds', { duration: 2 }, { code: 'invalid_value', param: 'duration' }],
    ['of 301 seconds', { duration: 301 }, { code: 'invalid_value', param: 'duration' }],
    ['in another format', { output_format: 'ogg' }, { code: 'invalid_value', param: 'output_format' }],
    ['by a model of speech', { model: 'tts-1' }, { code: 'invalid_value', param: 'model' }],
  ])('%s is 400', async (_, fields, error) => {
    expectEnvelope(await post(MUSIC, { ...SONG, ...fields }), 400, error)
  })
})
