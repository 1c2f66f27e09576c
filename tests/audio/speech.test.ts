import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { AUDIO, json } from './audio-upstream.ts'
import { SPEECH, startAudioGateway, TTS, TTS_USD, type AudioGateway } from './start-audio-gateway.ts'
import { eventually } from '../support/eventually.ts'

let gateway: AudioGateway
beforeAll(async () => {
  gateway = await startAudioGateway()
})
afterAll(() => gateway.close())

const INPUT = 'Hello, world! 👋'
const CHARACTERS = 15
const COST = Number((CHARACTERS * TTS_USD).toFixed(9))
const speechBody = (members: object = {}) => ({ model: TTS, input: INPUT, voice: 'alloy', ...members })
const speak = (members: object = {}, headers: Record<string, string> = {}) =>
  gateway.fetch('POST', SPEECH, { body: speechBody(members), headers })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('speech', () => {
  test('is audio, charged by the character, with its cost in the headers', async () => {
    const spentBefore = await gateway.spent()
    const response = await speak()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    expect(response.headers.get('x-gateway-cost-usd')).toBe(String(COST))
    expect(response.headers.get('x-gateway-provider')).toBe('openai')
    expect(response.headers.get('x-gateway-balance-usd')).not.toBeNull()
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    expect(response.headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect((await bytesOf(response)).equals(AUDIO)).toBe(true)
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
    expect(await gateway.records()).toMatchObject({ operation: 'tts', cost_usd: COST, model: TTS })
  })

  test('is requested from the upstream with the same parameters', async () => {
    await speak({ response_format: 'wav', speed: 1.5, voice: { id: 'nova' }, instructions: 'Whisper.' })
    expect(gateway.upstream.requests.at(-1)?.body).toMatchObject({
      model: TTS,
      input: INPUT,
      voice: 'nova',
      response_format: 'wav',
      speed: 1.5,
    })
  })

  test('costs a character for every 16 bytes of instructions if the model reads them', async () => {
    const instructions = 'é'.repeat(20)
    for (const [model, usd, characters] of [
      ['gpt-4o-mini-tts', 0.000017, CHARACTERS + 3],
      [TTS, TTS_USD, CHARACTERS],
    ] as const) {
      const response = await speak({ model, instructions })
      await bytesOf(response)
      const cost = Number((characters * usd).toFixed(9))
      expect(Number(response.headers.get('x-gateway-cost-usd'))).toBe(cost)
      const sent = gateway.upstream.requests.at(-1)?.body
      expect('instructions' in sent).toBe(model !== TTS)
    }
  })

  test('arrives while it is made, except for its last byte, which waits for the charge', async () => {
    const { promise: rest, resolve: finish } = Promise.withResolvers<void>()
    gateway.upstream.answerNext(async (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('abcd')
      await rest
      response.end('efgh')
    })
    const spentBefore = await gateway.spent()
    const reader = (await speak()).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('abc')
    expect(await gateway.spent()).toBe(spentBefore)
    finish()
    let text = ''
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      text += Buffer.from(next.value).toString()
    expect(text).toBe('defgh')
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
  })

  test('is read at the pace of the client', async () => {
    const MEBIBYTE = Buffer.alloc(1024 * 1024, 7)
    let written = 0
    gateway.upstream.answerNext(async (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      for (; written < 64; written += 1) {
        if (!response.write(MEBIBYTE)) await once(response, 'drain')
      }
      response.end()
    })
    const response = await speak()
    let seen = -1
    // The client does not read: the buffers fill up, and the gateway stops reading from the upstream.
    while (seen !== written) {
      seen = written
      await delay(100)
    }
    expect(written).toBeLessThan(48)
    expect((await bytesOf(response)).length).toBe(64 * MEBIBYTE.length)
  })

  test('a client that disconnects in the middle cancels the upstream and pays', async () => {
    const spentBefore = await gateway.spent()
    const cutsBefore = gateway.upstream.cuts
    gateway.upstream.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('abcd')
    })
    const controller = new AbortController()
    const response = await gateway.fetch('POST', SPEECH, { body: speechBody(), signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await eventually(() => expect(gateway.upstream.cuts).toBe(cutsBefore + 1))
    await eventually(async () => expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9))
    expect(await gateway.records()).toMatchObject({ outcome: 'disconnected', cost_usd: COST })
  })

  test('a client that disconnects before the first byte pays, because the upstream has its text', async () => {
    const spentBefore = await gateway.spent()
    const asked = gateway.upstream.requests.length
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    gateway.upstream.answerNext(async (response) => {
      await left
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(AUDIO)
    })
    const controller = new AbortController()
    const sending = gateway.fetch('POST', SPEECH, { body: speechBody(), signal: controller.signal })
    await eventually(() => expect(gateway.upstream.requests.length).toBe(asked + 1))
    controller.abort()
    await expect(sending).rejects.toThrow()
    // When this answer arrives, the gateway has noticed the disconnect.
    await gateway.request('GET', '/v1/models')
    leave()
    await eventually(async () => expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9))
    expect(await gateway.records()).toMatchObject({ outcome: 'disconnected', cost_usd: COST })
  })

  test('is sent as events with stream_format sse, with a default voice', async () => {
    const spentBefore = await gateway.spent()
    const response = await speak({ stream_format: 'sse', voice: undefined })
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(gateway.upstream.requests.at(-1)?.body).toMatchObject({ voice: 'alloy' })
    const lines = (await response.text()).split('\n\n').filter(Boolean)
    expect(lines.pop()).toBe('data: [DONE]')
    const events = lines.map((line) => JSON.parse(line.slice('data: '.length)))
    const pieces = events.filter(({ type }) => type === 'speech.audio.delta')
    expect(Buffer.concat(pieces.map(({ audio }) => Buffer.from(audio, 'base64'))).equals(AUDIO)).toBe(true)
    expect(events.at(-1)).toMatchObject({
      type: 'speech.audio.done',
      usage: { characters: CHARACTERS, cost_usd: COST },
    })
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
  })

  test('speech that is cut off is cut off for the client too, and is free', async () => {
    const spentBefore = await gateway.spent()
    gateway.upstream.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '100' }).write('abcd', () => {
        setImmediate(() => response.destroy())
      })
    })
    await expect(speak().then(bytesOf)).rejects.toThrow()
    expect(await gateway.spent()).toBe(spentBefore)
  })

  test('is retried before its first byte', async () => {
    gateway.upstream.answerNext(json(503, { error: { message: 'busy' } }))
    const response = await speak()
    expect([response.status, (await bytesOf(response)).equals(AUDIO)]).toEqual([200, true])
  })

  test('is replayed for the same idempotency key, and charged once', async () => {
    const spentBefore = await gateway.spent()
    const key = { 'idempotency-key': 'speak-once' }
    const first = await bytesOf(await speak({}, key))
    const again = await speak({}, key)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('content-type')).toBe('audio/mpeg')
    expect((await bytesOf(again)).equals(first)).toBe(true)
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
  })

  test('is a task if the client accepts JSON and no audio', async () => {
    const asked = async (accept: string) => (await speak({}, { accept })).headers.get('content-type')
    expect(await asked('application/json, audio/*')).toBe('audio/mpeg')
    expect(await asked('application/json, */*;q=0.1')).toBe('audio/mpeg')
    expect(await asked('application/octet-stream')).toBe('audio/mpeg')
    const response = await gateway.request('POST', SPEECH, {
      body: speechBody(),
      headers: { accept: 'application/json' },
    })
    expect([response.status, response.body]).toMatchObject([
      202,
      { task_id: expect.any(String), poll_url: expect.stringContaining('/v1/tasks/'), model: TTS },
    ])
    const { body: task } = await gateway.request('GET', `/v1/tasks/${response.body.task_id}?wait=30`)
    const { body: last } = await gateway.request('GET', `/v1/tasks/${task.task_id}?wait=30`)
    expect(last).toMatchObject({ task_type: 'tts', status: 'completed', cost_usd: COST })
    expect((await fetch(last.result.data[0].url)).headers.get('content-type')).toBe('audio/mpeg')
  })
})

describe('speech is refused', () => {
  const refuse = async (members: object, status: number, error: object) =>
    expectEnvelope(await gateway.request('POST', SPEECH, { body: speechBody(members) }), status, error)

  test('with the name of the missing or invalid member, and nothing is charged', async () => {
    const spentBefore = await gateway.spent()
    const asked = gateway.upstream.requests.length
    await refuse({ model: undefined }, 400, { code: 'missing_required_parameter', param: 'model' })
    await refuse({ input: undefined }, 400, { code: 'missing_required_parameter', param: 'input' })
    await refuse({ stream_format: 'ogg' }, 400, { code: 'invalid_value', param: 'stream_format' })
    await refuse({ input: '' }, 400, { code: 'invalid_value', param: 'input' })
    await refuse({ input: 'x'.repeat(4097) }, 400, { code: 'invalid_value', param: 'input' })
    await refuse({ speed: 5 }, 400, { code: 'invalid_value', param: 'speed' })
    await refuse({ response_format: 'midi' }, 400, { code: 'invalid_value', param: 'response_format' })
    await refuse({ voice: 'nobody' }, 400, { code: 'invalid_value', param: 'voice' })
    await refuse({ model: 'nobody' }, 404, { code: 'model_not_found', param: 'model' })
    await refuse({ model: 'gpt-4o-mini' }, 400, { code: 'invalid_value', param: 'model' })
    expect([await gateway.spent(), gateway.upstream.requests.length]).toEqual([spentBefore, asked])
  })

  test('speech is refused by the upstream, in its words or in ours', async () => {
    const spentBefore = await gateway.spent()
    gateway.upstream.answerNext(json(400, { error: { message: 'No such voice', param: 'voice' } }))
    await refuse({}, 400, { code: 'invalid_request', param: 'voice', message: 'No such voice' })
    for (let attempt = 0; attempt < 3; attempt += 1)
      gateway.upstream.answerNext(
        (response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(),
      )
    const empty = await gateway.request('POST', SPEECH, { body: speechBody() })
    expect([empty.status, empty.body.error.code]).toEqual([502, 'provider_error'])
    expect(await gateway.spent()).toBe(spentBefore)
  })
})
