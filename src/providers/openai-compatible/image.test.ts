import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readForm } from '../../../tests/upstreams/audio-file.ts'
import { createMediaCall } from '../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../tests/upstreams/call-provider.ts'
import { failure, json } from '../../../tests/upstreams/openai-server.ts'
import { startWireUpstream, type WireUpstream } from '../../../tests/upstreams/start-wire-upstream.ts'
import { testUpstreamFailures } from '../../../tests/upstreams/test-upstream-failures.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { InputFile, MediaStart } from '../media/media-operation.ts'
import type { ImageWork } from '../media/media-work.ts'

let openai: WireUpstream
let local: WireUpstream

beforeAll(async () => {
  openai = await startWireUpstream('openai')
  local = await startWireUpstream('vllm')
})

beforeEach(() => {
  for (const { server } of [openai, local]) {
    server.requests.length = 0
    server.respondWith(json({ created: 1, data: [{ b64_json: PNG.toString('base64') }] }))
  }
})

afterAll(async () => {
  await openai.close()
  await local.close()
})

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const WEBP: InputFile = { bytes: Buffer.from('RIFF....WEBP'), contentType: 'image/webp' }
const WORK: ImageWork<InputFile> = {
  kind: 'image',
  prompt: 'a fox',
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
}

async function draw(
  work: Partial<ImageWork<InputFile>>,
  { model = 'gpt-image-1', upstream = openai, cancellation }: DrawOptions = {},
): Promise<MediaStart> {
  const answer = await upstream.provider.image?.start(
    createMediaCall({ ...WORK, ...work }, model, cancellation),
  )
  if (answer === undefined) throw new Error('expected images')
  return answer
}

interface DrawOptions {
  model?: string
  upstream?: WireUpstream
  cancellation?: Cancellation
}

describe('images over the wire of OpenAI', () => {
  test('translates DALL-E parameters to those of gpt-image', async () => {
    await draw({ quality: 'hd', size: '1792x1024', style: 'vivid' }, { model: 'gpt-image-1.5' })
    expect(openai.server.requests[0]?.body).toEqual({
      model: 'gpt-image-1.5',
      prompt: 'a fox',
      n: 1,
      size: '1536x1024',
      quality: 'medium',
    })
  })

  test('has only the requested parameters', async () => {
    const answer = await draw({
      count: 2,
      size: '1024x1536',
      quality: 'high',
      seed: 7,
      extra: { moderation: 'low' },
    })
    expect(answer).toEqual({
      kind: 'done',
      output: { files: [{ kind: 'bytes', bytes: PNG, contentType: 'image/png' }] },
    })
    expect(openai.server.requests[0]).toMatchObject({ path: '/v1/images/generations' })
    expect(openai.server.requests[0]?.body).toEqual({
      model: 'gpt-image-1',
      prompt: 'a fox',
      n: 2,
      size: '1024x1536',
      quality: 'high',
      moderation: 'low',
    })
  })

  test("a ratio becomes a size, and the operator's own servers are asked for bytes and get the seed", async () => {
    await draw({ aspectRatio: '16:9' }, { model: 'dall-e-3' })
    await draw({ aspectRatio: '2:3', seed: 7 }, { model: 'flux', upstream: local })
    expect(openai.server.requests[0]?.body).toMatchObject({ size: '1792x1024', response_format: 'b64_json' })
    expect(local.server.requests[0]?.body).toMatchObject({
      size: '1024x1536',
      response_format: 'b64_json',
      seed: 7,
    })
  })

  test('an address is returned with the revised prompt', async () => {
    const url = 'https://files.example.com/1.png'
    openai.server.respondWith(json({ data: [{ url, revised_prompt: 'a red fox' }] }))
    expect(await draw({}, { model: 'dall-e-3' })).toEqual({
      kind: 'done',
      output: { files: [{ kind: 'url', url, revisedPrompt: 'a red fox' }] },
    })
  })

  test('an edit is a form with its images and mask', async () => {
    await draw({ images: [WEBP, WEBP], mask: { bytes: PNG, contentType: 'image/png' } })
    await draw({ images: [WEBP] })
    const [several, one] = await Promise.all(openai.server.requests.map(readForm))
    expect(openai.server.requests[0]?.path).toBe('/v1/images/edits')
    expect([...(several?.keys() ?? [])]).toEqual(['model', 'prompt', 'n', 'image[]', 'image[]', 'mask'])
    expect([...(one?.keys() ?? [])]).toEqual(['model', 'prompt', 'n', 'image'])
    const image = one?.get('image')
    if (!(image instanceof File)) throw new Error('expected a file')
    expect([image.name, image.type]).toEqual(['image-0.webp', 'image/webp'])
    expect(Buffer.from(await image.arrayBuffer())).toEqual(WEBP.bytes)
  })

  test.each([
    ['no images', { data: [] }],
    ['an image that is none', { data: [{ b64_json: 'AAAA' }] }],
    ['neither bytes nor an address', { data: [{}] }],
  ])('%s is an invalid answer', async (_, answer) => {
    openai.server.respondWith(json(answer))
    expect(await failureOf(draw({}))).toMatchObject({ failure: 'invalid_answer' })
  })
})

testUpstreamFailures('images', {
  server: () => openai.server,
  perform: (cancellation) => draw({}, { cancellation }),
  refusal: (status, message, headers) => failure(status, { message }, headers),
  cutReply: json('{"data":[{"b64'),
})
