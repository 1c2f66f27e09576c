import { afterEach, describe, expect, test } from 'vitest'

import { failureOf } from '../../../../tests/upstreams/call-provider.ts'
import { falWire } from '../../../../tests/upstreams/media/fal-wire.ts'
import { googleMediaWire } from '../../../../tests/upstreams/media/google-media-wire.ts'
import { klingaiWire } from '../../../../tests/upstreams/media/klingai-wire.ts'
import {
  imageWork,
  inputImage,
  jobCall,
  mediaCall,
  videoWork,
} from '../../../../tests/upstreams/media/media-call.ts'
import {
  startVendorServer,
  type VendorServer,
  type VendorWire,
} from '../../../../tests/upstreams/media/vendor-server.ts'
import { xaiWire } from '../../../../tests/upstreams/media/xai-wire.ts'
import { createMediaProvider } from '../../create-provider.ts'

let server: VendorServer

async function connect(id: string, wire: VendorWire, basePath = '', apiKeys = ['ak-1:sk-1']) {
  server = await startVendorServer(wire)
  const provider = createMediaProvider(id, { apiKeys, baseUrl: server.origin + basePath })
  if (provider === null) throw new Error('expected a provider')
  return provider
}

afterEach(async () => {
  await server.close()
})

describe('more images than one job makes', () => {
  const model = 'fal-ai/recraft/v3/text-to-image'
  const work = imageWork({ count: 3, seed: 7 })

  test('are several jobs, stored and polled as one', async () => {
    const { image } = await connect('fal', falWire)
    const started = await image?.start(mediaCall(work, model))
    if (started?.kind !== 'started') throw new Error('expected a job')
    expect(server.requests).toHaveLength(3)
    server.phase = 'running'
    expect(await image?.check?.(jobCall(started.job, model))).toMatchObject({ kind: 'running', progress: 0 })
    server.phase = 'done'
    const done = await image?.check?.(jobCall(started.job, model))
    expect(done?.kind === 'done' ? done.output.files : []).toHaveLength(3)
  })

  test('are cancelled together', async () => {
    const { image } = await connect('fal', falWire)
    const started = await image?.start(mediaCall(work, model))
    if (started?.kind !== 'started') throw new Error('expected a job')
    server.requests.length = 0
    await image?.cancel?.(jobCall(started.job, model))
    expect(server.requests.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT'])
  })

  test('leave no job if one is refused', async () => {
    const { image } = await connect('fal', falWire)
    server.replyNext({
      status: 422,
      body: { detail: [{ loc: ['body', 'prompt'], msg: 'too long', type: 'value' }] },
    })
    const failure = await failureOf(image?.start(mediaCall(work, model)) ?? Promise.resolve())
    expect(failure).toMatchObject({ status: 422, upstreamMessage: 'too long', upstreamParam: 'prompt' })
    expect(server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(2)
  })

  test('come from several calls if each is finished at once', async () => {
    const { image } = await connect('xai', xaiWire, '/v1')
    const done = await image?.start(mediaCall(imageWork({ count: 5 }), 'grok-imagine-image'))
    expect(server.requests.map(({ body }) => body)).toMatchObject([{ n: 3 }, { n: 2 }])
    expect(done?.kind === 'done' ? done.output.files[0]?.revisedPrompt : undefined).toBe('a red boat')
  })
})

test('an image that was held back after it was made is refused content', async () => {
  const { image } = await connect('xai', xaiWire, '/v1')
  server.replyNext({ body: { data: [{ url: null, respect_moderation: false }] } })
  const failure = await failureOf(
    image?.start(mediaCall(imageWork(), 'grok-imagine-image')) ?? Promise.resolve(),
  )
  expect(failure).toMatchObject({ status: 422, upstreamCode: 'content_policy_violation', isRetryable: false })
})

describe('Kling', () => {
  test('looks up the job of a submission whose answer never arrived', async () => {
    const { video } = await connect('klingai', klingaiWire)
    const call = mediaCall(videoWork(), 'kling-v3')
    expect(await video?.find?.(call)).toMatchObject({ id: 'kling-1', data: { kind: 'text2video' } })
    expect(await video?.find?.({ ...call, requestId: 'req_unknown' })).toBeNull()
  })

  test('reports how long the video is', async () => {
    const { video } = await connect('klingai', klingaiWire)
    const started = await video?.start(mediaCall(videoWork(), 'kling-v3'))
    if (started?.kind !== 'started') throw new Error('expected a job')
    expect(await video?.check?.(jobCall(started.job, 'kling-v3'))).toMatchObject({ output: { seconds: 5.1 } })
  })
})

describe('Google', () => {
  test.each(['veo-3.1-generate-preview', 'gemini-omni-1.1-flash'])(
    'files of %s are fetched with the key in a header, never in the address',
    async (model) => {
      const { video } = await connect('google', googleMediaWire, '/v1beta')
      const started = await video?.start(mediaCall(videoWork(), model))
      if (started?.kind !== 'started') throw new Error('expected a job')
      const done = await video?.check?.(jobCall(started.job, model))
      const [file] = done?.kind === 'done' ? done.output.files : []
      expect(file).toMatchObject({ kind: 'url', headers: { 'x-goog-api-key': 'ak-1:sk-1' } })
      expect(JSON.stringify(file?.kind === 'url' ? file.url : '')).not.toContain('ak-1')
    },
  )

  test('a mask is refused before anything is sent', async () => {
    const { image } = await connect('google', googleMediaWire, '/v1beta')
    const work = imageWork({ images: [inputImage], mask: inputImage })
    const failure = await failureOf(image?.start(mediaCall(work, 'gemini-3-pro-image')) ?? Promise.resolve())
    expect(failure).toMatchObject({ status: 400, isRetryable: false })
    expect(server.requests).toHaveLength(0)
  })
})

test('progress is reported if the vendor reports it', async () => {
  const { video } = await connect('xai', xaiWire, '/v1')
  const started = await video?.start(mediaCall(videoWork(), 'grok-imagine-video'))
  if (started?.kind !== 'started') throw new Error('expected a job')
  server.phase = 'running'
  expect(await video?.check?.(jobCall(started.job, 'grok-imagine-video'))).toMatchObject({ progress: 0.4 })
})

test('images that the safety check held back are refused', async () => {
  const { image } = await connect('fal', falWire)
  const started = await image?.start(mediaCall(imageWork(), 'fal-ai/flux/dev'))
  if (started?.kind !== 'started') throw new Error('expected a job')
  const images = [{ url: `${server.origin}/files/black.png` }]
  server.replyNext({ body: { status: 'COMPLETED' } }, { body: { images, has_nsfw_concepts: [true] } })
  const failure = await failureOf(
    image?.check?.(jobCall(started.job, 'fal-ai/flux/dev')) ?? Promise.resolve(),
  )
  expect(failure).toMatchObject({ status: 422, upstreamCode: 'content_policy_violation' })
})
