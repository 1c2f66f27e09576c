import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { failureOf } from '../../../../../tests/upstreams/call-provider.ts'
import { imageWork, inputImage, mediaCall } from '../../../../../tests/upstreams/media/media-call.ts'
import { PNG_BASE64 } from '../../../../../tests/upstreams/media/vendor-server.ts'
import { startScriptedServer, type ScriptedServer } from '../../../../../tests/upstreams/scripted-server.ts'
import { testUpstreamFailures } from '../../../../../tests/upstreams/test-upstream-failures.ts'
import type { MediaCall } from '../../../media/media-operation.ts'
import { createMediaProvider } from '../../../create-provider.ts'

const MODEL = 'imagen-4.0-generate-001'
const image = { mimeType: 'image/png', bytesBase64Encoded: PNG_BASE64 }
const filtered = { raiFilteredReason: 'Your current safety filter threshold filtered out 1 image.' }

let server: ScriptedServer

beforeAll(async () => {
  server = await startScriptedServer(json({ predictions: [image] }))
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await server.close()
})

describe('Imagen', () => {
  test('filtered images are omitted, and the rest is delivered', async () => {
    server.respondWith(json({ predictions: [image, filtered, { ...image, prompt: 'a red boat' }] }))
    expect(await make({ count: 3 })).toMatchObject({
      kind: 'done',
      output: {
        files: [
          { kind: 'bytes', contentType: 'image/png' },
          { kind: 'bytes', revisedPrompt: 'a red boat' },
        ],
      },
    })
  })

  test.each([
    ['with its reason', { predictions: [filtered] }],
    ['without a word', {}],
    ['with an empty list', { predictions: [] }],
  ])('a result that is filtered completely, %s, is refused content', async (_, answer) => {
    server.respondWith(json(answer))
    expect(await failureOf(make())).toMatchObject({
      failure: 'status',
      status: 422,
      upstreamCode: 'content_policy_violation',
      isRetryable: false,
    })
  })

  test('an image without bytes is an invalid answer', async () => {
    server.respondWith(json({ predictions: [{ mimeType: 'image/png' }] }))
    expect(await failureOf(make())).toMatchObject({ failure: 'invalid_answer' })
  })

  test('more images than one request makes are several requests', async () => {
    server.respondWith(json({ predictions: [image] }))
    await make({ count: 6 })
    const counts = server.requests.map(({ body }) => body)
    expect(counts).toMatchObject([{ parameters: { sampleCount: 4 } }, { parameters: { sampleCount: 2 } }])
  })

  test('an edit is refused before anything is sent', async () => {
    const failure = await failureOf(make({ images: [inputImage] }))
    expect(failure).toMatchObject({ status: 400, upstreamParam: 'image', isRetryable: false })
    expect(server.requests).toHaveLength(0)
  })

  test('a model that is shut down is not found, so another route is tried', async () => {
    const message = `models/${MODEL} is not found for API version v1beta`
    server.respondWith(json({ error: { code: 404, message, status: 'NOT_FOUND' } }, 404))
    expect(await failureOf(make())).toMatchObject({ status: 404, upstreamMessage: message })
  })
})

testUpstreamFailures('Imagen', {
  server: () => server,
  perform: (cancellation) => start({ ...mediaCall(imageWork(), MODEL), cancellation }),
  refusal: (status, message, headers = {}) =>
    json({ error: { code: status, message, status: 'FAILED' } }, status, headers),
  cutReply: {
    headers: { 'content-type': 'application/json' },
    chunks: ['{"predictions": [{"bytesBase64Encoded": "iVBO'],
  },
})

function make(fields: Partial<ReturnType<typeof imageWork>> = {}) {
  return start(mediaCall(imageWork(fields), MODEL))
}

async function start(call: MediaCall<ReturnType<typeof imageWork>>) {
  const provider = createMediaProvider('google', { apiKeys: ['key-1'], baseUrl: `${server.baseUrl}/v1beta` })
  if (provider?.image === undefined) throw new Error('no images here')
  return provider.image.start(call)
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}) {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify(body)],
  }
}
