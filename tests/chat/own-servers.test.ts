import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sampleFile } from '../../src/modules/media/testing/sample-files.ts'
import { completion } from '../upstreams/openai-server.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

const PICTURE = sampleFile('png')
const FILM = sampleFile('mp4')

let files: Server
let filesUrl: string
let gateway: ChatGateway
let fetched: string[] = []

beforeAll(async () => {
  files = createServer((request, response) => {
    fetched.push(request.url ?? '')
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
    else if (request.url === '/missing') response.writeHead(404).end()
    else response.writeHead(200).end(request.url === '/film' ? FILM : PICTURE)
  })
  await new Promise<void>((resolve) => {
    files.listen(0, '127.0.0.1', resolve)
  })
  const { port } = files.address() as AddressInfo
  filesUrl = `http://127.0.0.1:${port}`
  gateway = await startChatGateway({
    models: [
      modelEntry('own', [{ provider: 'vllm', model: 'own' }]),
      modelEntry('vendor', [{ provider: 'groq', model: 'vendor' }]),
      modelEntry('either', [
        { provider: 'groq', model: 'vendor' },
        { provider: 'vllm', model: 'own' },
      ]),
    ],
    providers: ['vllm', 'groq'],
    settings: { PARKWAY_OUTBOUND_ALLOW: `127.0.0.1:${port}` },
  })
})

afterAll(async () => {
  await gateway.close()
  files.close()
})

beforeEach(() => {
  fetched = []
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(completion())
})

const uri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const user = (...parts: object[]) => [{ role: 'user', content: parts }]
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const video = (url: string) => ({ type: 'video_url', video_url: { url } })
const file = (url: string) => ({ type: 'file', file: { file_data: url, filename: 'a.png' } })
const send = (model: string, ...parts: object[]) =>
  gateway.request('POST', CHAT, { body: { model, messages: user(...parts) } })

/** Addresses that only somebody in the operator's network can reach. */
const PRIVATE = [
  'http://127.0.0.1:1/a.png',
  'http://localhost:8000/metrics',
  'http://10.0.0.7/a.png',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::1]/a.png',
  'http://[::ffff:10.0.0.7]/a.png',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'file:///etc/passwd',
  'ftp://example.com/a.png',
]

describe('a server of the operator', () => {
  test('gets the content of addresses, which the gateway fetches, in every wire', async () => {
    const url = `${filesUrl}/picture`
    const png = uri('image/png', PICTURE)
    expect((await send('own', image(url), image(url), video(`${filesUrl}/film`), file(url))).status).toBe(200)
    expect(gateway.upstream.bodies()[0].messages[0].content).toEqual([
      image(png),
      image(png),
      video(uri('video/mp4', FILM)),
      file(png),
    ])
    expect(fetched).toEqual(['/picture', '/film'])
    const input = user({ type: 'input_image', image_url: url })
    await gateway.request('POST', '/v1/responses', { body: { model: 'own', input } })
    const messages = user({ type: 'image', source: { type: 'url', url } })
    await gateway.request('POST', '/v1/messages', { body: { model: 'own', max_tokens: 9, messages } })
    for (const body of gateway.upstream.bodies().slice(1))
      expect(body.messages[0].content).toEqual([image(png)])
    expect(gateway.upstream.requests).toHaveLength(3)
  })

  test('never gets a private address, nor one that leads there', async () => {
    for (const url of [...PRIVATE, `${filesUrl}/away`, `${filesUrl}/missing`])
      for (const part of [image(url), video(url), file(url)]) {
        const { status, body } = await send('own', part)
        expect([url, status, body.error?.code]).toEqual([url, 400, 'invalid_value'])
      }
    expect(gateway.upstream.requests).toEqual([])
  })

  test('never gets something else than what the part says', async () => {
    const { status, body } = await send('own', image(`${filesUrl}/film`))
    expect([status, body.error.code]).toEqual([400, 'invalid_value'])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('gets no address as the fallback of a vendor either', async () => {
    expect((await send('either', image(`${filesUrl}/picture`))).status).toBe(200)
    expect(gateway.upstream.bodies()[0].messages[0].content).toEqual([image(uri('image/png', PICTURE))])
  })
})

describe('a vendor', () => {
  test('gets public addresses unchanged, and no private ones', async () => {
    const url = 'https://example.com/a.png'
    expect((await send('vendor', image(url))).status).toBe(200)
    expect(gateway.upstream.bodies()[0].messages[0].content).toEqual([image(url)])
    for (const one of PRIVATE) expect([one, (await send('vendor', image(one))).status]).toEqual([one, 400])
    expect([gateway.upstream.requests.length, fetched]).toEqual([1, []])
  })
})

describe('members of an engine', () => {
  const ask = (model: string, members: object) =>
    gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })

  test.each([
    ['chat_template', '{{ "x" * 9 }}'],
    ['mm_processor_kwargs', { size: 9 }],
    ['media_io_kwargs', { video: { num_frames: 9999 } }],
    ['kv_transfer_params', { remote_host: '10.0.0.7' }],
    ['logits_processors', ['os.system']],
    ['lora_request', { lora_path: '/etc' }],
    ['prompt_embeds', 'AAAA'],
  ])('are refused unless the operator allows them: %s', async (name, value) => {
    const { status, body } = await ask('own', { [name]: value })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_parameter', name])
    expect(gateway.upstream.requests).toEqual([])
  })

  test('members of an engine that the gateway does not know reach no server, but every vendor', async () => {
    const members = { future: { a: 1 }, top_k: 3, min_p: 0.1 }
    await ask('own', members)
    await ask('vendor', members)
    const [own, vendor] = gateway.upstream.bodies()
    expect(own).toMatchObject({ top_k: 3, min_p: 0.1 })
    expect(own).not.toHaveProperty('future')
    expect(vendor).toMatchObject(members)
  })

  test('members of an engine that switch reasoning pass, but no other argument of a template', async () => {
    await ask('own', { chat_template_kwargs: { enable_thinking: false } })
    await ask('own', { chat_template_kwargs: { enable_thinking: false, chat_template: '{{ x }}' } })
    const [plain, other] = gateway.upstream.bodies()
    expect(plain.chat_template_kwargs).toEqual({ enable_thinking: false })
    expect(other).not.toHaveProperty('chat_template_kwargs')
  })
})
