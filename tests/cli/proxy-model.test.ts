import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as readJson, text } from 'node:stream/consumers'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeApi } from '../../api-types/describe-api.ts'
import { isModelRoute } from '../../cli/proxy/model-routes.ts'
import { pinFormModel } from '../../cli/proxy/pin-form-model.ts'
import { wavOf } from '../audio/audio-files.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { createProxies } from './run-proxy.ts'

const PINNED_STT = 'whisper-large-v3'
const TRANSCRIPTIONS = '/v1/audio/transcriptions'

const { gateway, home } = await startGatewayAndHome(startTestGateway)
const proxies = createProxies()

afterEach(() => proxies.end())

const json = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('a pinned model', () => {
  test('replaces the model of a JSON body, and leaves bodies alone that name none', async () => {
    const { url } = await proxies.start(home, ['--model', 'claude-sonnet-5'])
    const nameless = { messages: [{ role: 'user', content: 'hello' }] }
    for (const body of [nameless, { ...nameless, model: 'gpt-4o-mini' }]) {
      const chat = await fetch(`${url}/v1/chat/completions`, json(body))
      expect(await chat.json()).toMatchObject({ model: 'claude-sonnet-5' })
      const message = await fetch(`${url}/anthropic/v1/messages`, json({ ...body, max_tokens: 10 }))
      expect(await message.json()).toMatchObject({ model: 'claude-sonnet-5' })
    }
    const key = await fetch(`${url}/v1/tenants/me/api-keys`, json({ name: 'made through the proxy' }))
    expect(key.status).toBe(201)
    const wrong = await fetch(`${url}/v1/chat/completions`, { ...json(null), body: '{"model":' })
    expect(wrong.status).toBe(400)
  })

  test('is that of the voices that are listed for a model', async () => {
    const { url } = await proxies.start(home, ['--model', 'tts-1'])
    const named = await fetch(`${url}/v1/audio/voices?model=no-such-model&limit=1`)
    expect([named.status, await named.json()]).toMatchObject([200, { data: [{}] }])
  })

  test('is known for every route of the API that takes a model', () => {
    const api = describeApi() as unknown as Api
    const taking = Object.keys(api.paths).filter((path) => takesModel(api, api.paths[path]?.post))
    // Their path names the model, or they are about one: a provider that is tested, a price that is adjusted.
    const others = [
      '/v1/deployments/{id}/chat',
      '/v1/deployments/{id}/chat/completions',
      '/v1/admin/requests/{request_id}/replay',
      '/v1/admin/providers/{name}/test',
      '/v1/admin/providers/test',
      '/v1/admin/price_adjustments',
    ]
    expect(taking.filter((path) => !isModelRoute(path))).toEqual(others)
  })
})

interface Api {
  readonly paths: Record<string, { readonly post?: Operation }>
  readonly components: { readonly schemas: Record<string, Schema> }
}
interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> }
}
interface Schema {
  readonly $ref?: string
  readonly properties?: Record<string, unknown>
}

function takesModel({ components: { schemas } }: Api, operation: Operation | undefined): boolean {
  return Object.values(operation?.requestBody?.content ?? {}).some(({ schema }) => {
    const known = schema.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? '']
    return known?.properties?.model !== undefined
  })
}

const BOUNDARY = 'a-boundary'
const field = (name: string, value: string): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
const file = (bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="; name=model"\r\nContent-Type: audio/wav\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n'),
  ])
const END = Buffer.from(`--${BOUNDARY}--\r\n`)
const RECORDING = file(wavOf(1))

async function* split(bytes: Buffer, at: number): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, at)
  yield* [...bytes.subarray(at)].map((byte) => Buffer.from([byte]))
}

/** Sends a form in pieces of a size. */
async function sendForm(url: string, parts: readonly Buffer[], pieceBytes = 1024 * 1024) {
  const sent = request(`${url}${TRANSCRIPTIONS}`, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary="${BOUNDARY}"` },
  })
  sent.setNoDelay(true)
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  const form = Buffer.concat([...parts, END])
  for (let at = 0; at < form.length; at += pieceBytes)
    await new Promise((done) => sent.write(form.subarray(at, at + pieceBytes), done))
  sent.end()
  const [answer] = await answered
  return { status: answer.statusCode, body: (await readJson(answer)) as Record<string, unknown> }
}

describe('a form', () => {
  test.each([
    ['before the file', [field('model', 'whisper-1'), RECORDING]],
    ['after the file', [RECORDING, field('model', 'whisper-1')]],
    ['twice', [field('model', 'whisper-1'), RECORDING, field('model', 'no-such-model')]],
    ['not at all', [RECORDING]],
  ])('a form that names the model %s is answered by the pinned one', async (_, parts) => {
    const { url } = await proxies.start(home, ['--model', PINNED_STT])
    const before = await recordsOf(PINNED_STT)
    const { status, body } = await sendForm(url, parts)
    expect([status, body]).toEqual([200, expect.objectContaining({ text: expect.stringMatching(/\w/) })])
    await eventually(async () => expect(await recordsOf(PINNED_STT)).toBe(before + 1))
    expect(await recordsOf('whisper-1')).toBe(0)
  })

  test('may arrive in any pieces', async () => {
    const { url } = await proxies.start(home, ['--model', PINNED_STT])
    const small = file(wavOf(1).subarray(0, 2_000))
    for (const pieceBytes of [7, 61, 4_096]) {
      const parts = [field('model', 'no-such-model'), small, field('response_format', 'json')]
      expect((await sendForm(url, parts, pieceBytes)).status).toBe(200)
    }
  })

  test('is the same wherever it is split', async () => {
    const rest = [field('a', '\r\n--a-b'), file(Buffer.from('x\r\n\r\n'))]
    const form = Buffer.concat([field('model', 'x'), ...rest, field('model', '\r\n--a-boundarx'), END])
    const pinned = Buffer.concat([...rest, field('model', 'mine'), END]).toString()
    const pin = { boundary: BOUNDARY, model: 'mine', isAdded: true }
    for (let at = 0; at <= form.length; at += 1)
      expect(await text(pinFormModel(split(form, at), pin))).toBe(pinned)
  })

  test('a form of a program that uses the OpenAI library is answered by the pinned model', async () => {
    const { url } = await proxies.start(home, ['--model', PINNED_STT])
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    const recording = new File([wavOf(1)], 'talk.wav')
    const { text: said } = await client.audio.transcriptions.create({ file: recording, model: 'nothing' })
    expect(said).toMatch(/\w/)
  })

  test('a form that is not complete, or has endless headers, is refused', async () => {
    const { url } = await proxies.start(home, ['--model', PINNED_STT])
    const type = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const cut = await fetch(`${url}${TRANSCRIPTIONS}`, { method: 'POST', headers: type, body: RECORDING })
    expect(cut.status).toBe(400)
    const endless = Buffer.from(`--${BOUNDARY}\r\nX: ${'x'.repeat(20_000)}`)
    const refused = await fetch(`${url}${TRANSCRIPTIONS}`, { method: 'POST', headers: type, body: endless })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request' } },
    ])
  })

  async function recordsOf(model: string): Promise<number> {
    const { body } = await gateway.request('GET', `/v1/usage/records?model=${model}&limit=100`)
    return body.data.length
  }
})

describe('a form that is large', () => {
  let upstream: Server
  let environment: Record<string, string>
  let receive: (incoming: IncomingMessage) => Promise<void>

  beforeAll(async () => {
    upstream = createServer((incoming, response) => void receive(incoming).then(() => response.end('{}')))
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    const { port } = upstream.address() as AddressInfo
    environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'pk-key' }
  })
  afterAll(() => void upstream.close())

  test('is passed on while it arrives', async () => {
    const arrived = Promise.withResolvers<void>()
    let received = 0
    receive = async (incoming) => {
      for await (const part of incoming as AsyncIterable<Buffer>) {
        received += part.length
        if (received > 1_000_000) arrived.resolve()
      }
    }
    const { url } = await proxies.start(home, ['--model', 'mine'], environment)
    const sent = request(`${url}${TRANSCRIPTIONS}`, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    })
    sent.write(file(Buffer.alloc(2_000_000)))
    // The end is sent only after most of the file has reached the gateway.
    await arrived.promise
    sent.end(END)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await text(answer)]).toEqual([200, '{}'])
  })

  test('keeps its bytes except for the model', async () => {
    let received = ''
    receive = async (incoming) => void (received = await text(incoming))
    const { url } = await proxies.start(home, ['--model', 'mine'], environment)
    const rest = [field('a', 'é\r\n--a-boundar'), field('b[model]', '1'), file(Buffer.from('\r\n--\r\n'))]
    await sendForm(url, [field('model', 'x'), ...rest, field('model[]', 'y')])
    expect(received).toBe(Buffer.concat([...rest, field('model', 'mine'), END]).toString())
    const other = { method: 'POST', body: Buffer.concat([...rest, END]) }
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    await fetch(`${url}/v1/compare/datasets`, { ...other, headers })
    expect(received).toBe(other.body.toString())
  })
})
