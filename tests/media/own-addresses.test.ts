import { mkdtemp } from 'node:fs/promises'
import { wholeAccount } from '../../src/storage/place.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MediaKind } from '../../src/modules/media/media.ts'
import { openMediaStage, type MediaStage } from '../../src/modules/media/testing/media-stage.ts'
import { sampleFile } from '../../src/modules/media/testing/sample-files.ts'
import { mp3Of } from '../audio/audio-files.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { paintPng } from '../generation/pictures.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const PRICE = { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10, audio_input_usd_per_1m: 40 }

let gateway: ChatGateway
let anthropic: ScriptedServer
let stage: MediaStage
let dataDir: string
let accountId: string
let otherKey: string
let picture: Buffer
/** The addresses of one picture, one audio file and one video of the account. */
let pictureUrl: string
let audioUrl: string
let videoUrl: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parkway-own-'))
  anthropic = await startAnthropicServer()
  gateway = await startChatGateway({
    models: [
      modelEntry('via-anthropic', [{ provider: 'anthropic', model: 'claude-sonnet-5' }]),
      modelEntry('hears', [{ provider: 'openai', model: 'gpt-4o-mini' }], { price: PRICE }),
    ],
    settings: {
      PARKWAY_DATA_DIR: dataDir,
      PARKWAY_SANDBOX: 'everybody',
      ANTHROPIC_API_KEY: 'sk-upstream',
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
    },
  })
  stage = await openMediaStage({
    connectionString: gateway.connectionString,
    directory: join(dataDir, 'media'),
    baseUrl: gateway.baseUrl,
  })
  accountId = (await gateway.request('GET', '/v1/tenants/me')).body.id
  otherKey = (await createAccountKey(gateway, { name: 'other', credit_usd: 1 })).key
  picture = await paintPng()
  pictureUrl = await publish(picture, 'image')
  audioUrl = await publish(mp3Of(2), 'audio')
  videoUrl = await publish(sampleFile('mp4'), 'video')
})

afterAll(async () => {
  await stage.close()
  await gateway.close()
  await anthropic.close()
  await removeDirectory(dataDir)
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

/** Stores a result of the account and returns its address. */
async function publish(source: Buffer, kind: MediaKind, expiresAt?: Date): Promise<string> {
  const { id } = await stage.media.keep({ place: wholeAccount(accountId), purpose: 'result', kind, source })
  return stage.media.addressOf({ id, ...(expiresAt && { expiresAt }) })
}

const dataUri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const post = (path: string, body: unknown, key = gateway.key) => gateway.request('POST', path, { body, key })
const show = (...parts: object[]) => chatBody({ messages: [{ role: 'user', content: parts }] })
const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })

describe('an address of the gateway in a chat', () => {
  test('reaches an OpenAI-compatible upstream as a data URI, in every kind of part', async () => {
    const parts = [
      { type: 'text', text: `Compare ${pictureUrl}` },
      image(pictureUrl),
      { type: 'video_url', video_url: { url: videoUrl } },
      { type: 'input_audio', input_audio: { data: audioUrl, format: 'mp3' } },
      { type: 'file', file: { file_data: pictureUrl, filename: 'a.png' } },
      image('https://elsewhere.example/media/a.png'),
    ]
    const { status } = await post(CHAT, { ...show(...parts), model: 'hears', x_vendor: 1.0 })
    expect(status).toBe(200)
    const [sent] = gateway.upstream.bodies()
    const png = dataUri('image/png', picture)
    expect(sent).toMatchObject({ x_vendor: 1 })
    expect(sent.messages[0].content).toEqual([
      parts[0],
      image(png),
      { type: 'video_url', video_url: { url: dataUri('video/mp4', sampleFile('mp4')) } },
      { type: 'input_audio', input_audio: { data: mp3Of(2).toString('base64'), format: 'mp3' } },
      { type: 'file', file: { file_data: png, filename: 'a.png' } },
      parts[5],
    ])
  })

  test('reaches an upstream from a client of another wire', async () => {
    const png = dataUri('image/png', picture)
    const parts = [
      { type: 'input_image', image_url: pictureUrl },
      { type: 'input_file', file_url: pictureUrl },
    ]
    const input = [{ role: 'user', content: parts }]
    expect((await post('/v1/responses', { model: 'gpt-4o-mini', input })).status).toBe(200)
    expect(gateway.upstream.bodies()[0].messages[0].content).toEqual([
      { type: 'image_url', image_url: { url: png } },
      { type: 'file', file: { file_data: png, filename: 'file' } },
    ])
    const shown = { type: 'image', source: { type: 'url', url: pictureUrl } }
    const messages = [{ role: 'user', content: [shown] }]
    expect((await post('/v1/messages', { model: 'via-anthropic', max_tokens: 9, messages })).status).toBe(200)
    expect(anthropic.requests.at(-1)?.body).toMatchObject({
      messages: [
        {
          content: [
            { source: { type: 'base64', media_type: 'image/png', data: picture.toString('base64') } },
          ],
        },
      ],
    })
  })

  test('reaches a stream and a vendor of another wire', async () => {
    gateway.upstream.respondWith(stream(chunksOf('A cube')))
    expect((await post(CHAT, { ...show(image(pictureUrl)), stream: true })).status).toBe(200)
    expect(gateway.upstream.bodies()[0].messages[0].content[0].image_url.url).toMatch(/^data:image\/png/)
    const { status } = await post(CHAT, { ...show(image(pictureUrl)), model: 'via-anthropic' })
    expect(status).toBe(200)
    expect((await anthropic.requestNumber(0)).text).toContain(picture.toString('base64'))
  })

  test('an address of the gateway in a chat of audio is refused by a model without an audio price, whatever part it is in', async () => {
    const file = { type: 'file', file: { file_data: audioUrl, filename: 'a.pdf' } }
    const { status, body } = await post(CHAT, show(file))
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'unsupported_parameter',
      'messages.0.content.0',
    ])
  })

  test('is read for its account after it has expired, as long as the file is stored', async () => {
    const expired = await publish(picture, 'image', new Date(Date.now() - 60_000))
    expect((await fetch(expired)).status).toBe(404)
    expect((await post(CHAT, show(image(expired)))).status).toBe(200)
  })

  test('costs the same as the image in the request itself', async () => {
    const costOf = async (url: string) => (await post(CHAT, show(image(url)))).body.usage.cost_usd
    expect(await costOf(pictureUrl)).toBe(await costOf(dataUri('image/png', picture)))
  })

  test('works in a message of Anthropic’s wire too, also in the result of a tool', async () => {
    const shown = { type: 'image', source: { type: 'url', url: pictureUrl } }
    const result = { type: 'tool_result', tool_use_id: 't', content: [shown] }
    const messages = [
      { role: 'user', content: [shown] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] },
      { role: 'user', content: [result] },
    ]
    const ask = (key?: string) =>
      post('/v1/messages', { model: 'gpt-4o-mini', max_tokens: 100, messages }, key)
    expect((await ask()).status).toBe(200)
    const uri = `data:image/png;base64,${picture.toString('base64')}`
    const sent = gateway.upstream.bodies().at(-1).messages
    for (const { content } of [sent[0], sent[2]])
      expect(content).toEqual([{ type: 'image_url', image_url: { url: uri } }])
    const { status, body } = await ask(otherKey)
    expect([status, body.error.param]).toEqual([404, 'messages.0.content.0.source.url'])
  })

  test('an address of the gateway in a chat of another account is not found, and no upstream is called', async () => {
    const { status, body } = await post(CHAT, show(image(pictureUrl)), otherKey)
    expect([status, body.error.code, body.error.param]).toEqual([
      404,
      'not_found',
      'messages.0.content.0.image_url.url',
    ])
    expect(gateway.upstream.requests).toEqual([])
  })

  test.each<[string, () => object, number, string]>([
    ['that was never signed', () => image(`${gateway.baseUrl}/media/nonsense.png`), 400, 'invalid_value'],
    ['of sound where a picture is wanted', () => image(audioUrl), 400, 'invalid_value'],
  ])('%s is refused', async (_, part, status, code) => {
    const answer = await post(CHAT, show(part()))
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('is limited in bytes together with all others, counted each time it is used', async () => {
    const large = image(await publish(sampleFile('png', 11_000_000), 'image'))
    const answer = await post(CHAT, show(large, large))
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large'])
    const many = Array.from({ length: 65 }, () => image(pictureUrl))
    expect((await post(CHAT, show(...many))).body.error.code).toBe('invalid_value')
  })

  test('is not read for an account without credit', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0 })
    expect((await post(CHAT, show(image(pictureUrl)), key)).status).toBe(402)
  })

  test('works in a turn of a conversation', async () => {
    gateway.upstream.respondWith(stream(chunksOf('A cube')))
    const lanes = { models: ['gpt-4o-mini', 'gpt-4o'] }
    const { body: conversation } = await post('/v1/compare/conversations', lanes)
    const path = `/v1/compare/conversations/${conversation.id}/turns`
    const turn = await post(path, { content: [{ type: 'text', text: 'What is it?' }, image(pictureUrl)] })
    expect(turn.body.replies.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
    ])
    expect(gateway.upstream.requests).toHaveLength(2)
    for (const { messages } of gateway.upstream.bodies())
      expect(messages[0].content[1].image_url.url).toMatch(/^data:image\/png/)
  })
})

describe('an address of the gateway in a moderation', () => {
  const judge = (url: string, key?: string) =>
    post('/v1/moderations', { input: [{ type: 'image_url', image_url: { url } }] }, key)

  test('reaches the upstream as a data URI, and of another account is not found', async () => {
    await judge(pictureUrl)
    expect(gateway.upstream.bodies()[0].input[0].image_url.url).toBe(dataUri('image/png', picture))
    const { status, body } = await judge(pictureUrl, otherKey)
    expect([status, body.error.param]).toEqual([404, 'input.0.image_url.url'])
  })
})

describe('an address of the gateway as the file of other work', () => {
  test.each<[string, string, (url: string) => object, string]>([
    [
      'an edit',
      '/v1/images/edits',
      (url) => ({ model: 'flux-kontext-pro', prompt: 'x', image: [url] }),
      'image.0',
    ],
    [
      'a mask',
      '/v1/images/edits',
      (url) => ({ model: 'flux-kontext-pro', prompt: 'x', image: dataUri('image/png', picture), mask: url }),
      'mask',
    ],
    ['an upscale', '/v1/images/upscale', (url) => ({ image: { url } }), 'image'],
    ['a background removal', '/v1/images/bg-remove', (url) => ({ image: url }), 'image'],
    [
      'a video of an image',
      '/v1/videos/generations',
      (url) => ({ model: 'wan-2.6-i2v', prompt: 'x', image_url: url }),
      'image_url',
    ],
  ])('is accepted by %s, for its account only', async (_, path, bodyOf, param) => {
    const refused = await post(path, bodyOf(pictureUrl), otherKey)
    expect([refused.status, refused.body.error?.code, refused.body.error?.param]).toEqual([
      404,
      'not_found',
      param,
    ])
    const { status, body } = await post(path, bodyOf(pictureUrl))
    expect([status, body.error]).toEqual([202, undefined])
    expect((await waitForTask(gateway, body.task_id)).status).toBe('completed')
  })

  test.each(['/v1/audio/transcriptions', '/v1/audio/translations'])(
    'is accepted by %s, for its account only',
    async (path) => {
      const bodyOf = (file: string) => ({ model: 'whisper-large-v3', file })
      const { status, body } = await post(path, bodyOf(audioUrl))
      expect([status, body.usage]).toEqual([200, expect.objectContaining({ type: 'duration' })])
      const refused = await post(path, bodyOf(audioUrl), otherKey)
      expect([refused.status, refused.body.error.param]).toEqual([404, 'file'])
      const elsewhere = await post(path, bodyOf('https://elsewhere.example/a.mp3'))
      expect([elsewhere.status, elsewhere.body.error.code]).toEqual([400, 'invalid_value'])
    },
  )

  test('is limited in transcriptions', async () => {
    const large = await publish(sampleFile('mp3', 26 * 1024 * 1024 + 1), 'audio')
    const { status, body } = await post('/v1/audio/transcriptions', {
      model: 'whisper-large-v3',
      file: large,
    })
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
  })
})
