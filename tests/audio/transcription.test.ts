import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { mp3Of, wavOf, webmOf } from './audio-files.ts'
import { json, TRANSCRIPT } from './audio-upstream.ts'
import {
  startAudioGateway,
  TRANSCRIPTIONS,
  TRANSLATIONS,
  WHISPER,
  WHISPER_USD,
  type AudioGateway,
  type Part,
} from './start-audio-gateway.ts'

let gateway: AudioGateway
beforeAll(async () => {
  gateway = await startAudioGateway()
})
afterAll(() => gateway.close())

const MODEL: Part = ['model', WHISPER]
const file = (bytes: Buffer): Part => ['file', bytes, 'talk.wav']
const TWO_SECONDS = file(wavOf(2))
const COST = Number((2 * WHISPER_USD).toFixed(9))

describe('a transcription', () => {
  test('is text with its usage, measured from the file and charged', async () => {
    const spentBefore = await gateway.spent()
    const { status, headers, body } = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS])
    expect([status, body]).toEqual([
      200,
      {
        text: TRANSCRIPT.text,
        language: 'en',
        duration: 2,
        usage: { type: 'duration', seconds: 2, cost_usd: COST },
      },
    ])
    expect(headers.get('x-gateway-cost-usd')).toBe(String(COST))
    expect(headers.get('x-gateway-provider')).toBe('groq')
    expect(headers.get('x-gateway-balance-usd')).not.toBeNull()
    expect(headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
    expect(await gateway.records()).toMatchObject({ operation: 'stt', cost_usd: COST, model: WHISPER })
  })

  test('reaches the upstream with its file and all parameters', async () => {
    await gateway.send(TRANSCRIPTIONS, [
      MODEL,
      ['file', mp3Of(3), 'a.mp3'],
      ['language', 'tr'],
      ['prompt', 'Ada'],
      ['temperature', '0.2'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
    ])
    const request = gateway.upstream.requests.at(-1)
    expect(request?.path).toBe('/v1/audio/transcriptions')
    expect(request?.body).toMatchObject({ model: WHISPER, language: 'tr', prompt: 'Ada', temperature: '0.2' })
    expect(request?.file).toMatchObject({ filename: 'a.mp3', contentType: 'audio/mpeg' })
    expect(request?.file?.bytes.equals(mp3Of(3))).toBe(true)
  })

  test('is available in every format', async () => {
    const ask = async (...parts: Part[]) => {
      const { headers, body } = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS, ...parts])
      return [headers.get('content-type'), body]
    }
    expect(await ask(['response_format', 'text'])).toEqual([
      'text/plain; charset=utf-8',
      'Hello there. General Kenobi.\n',
    ])
    expect(await ask(['response_format', 'srt'])).toEqual([
      'application/x-subrip; charset=utf-8',
      '1\n00:00:00,000 --> 00:00:00,800\nHello there.\n\n2\n00:00:00,800 --> 00:00:02,000\nGeneral Kenobi.\n\n',
    ])
    expect(await ask(['response_format', 'vtt'])).toEqual([
      'text/vtt; charset=utf-8',
      'WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nHello there.\n\n00:00:00.800 --> 00:00:02.000\nGeneral Kenobi.\n\n',
    ])
    const [, verbose] = await ask(['response_format', 'verbose_json'])
    expect(verbose).toMatchObject({ task: 'transcribe', language: 'en', duration: 2, text: TRANSCRIPT.text })
    expect(verbose.segments).toMatchObject([
      { id: 0, start: 0, end: 0.8, text: 'Hello there.' },
      { id: 1, start: 0.8, end: 2, text: 'General Kenobi.' },
    ])
    expect(verbose).not.toHaveProperty('words')
    const [, words] = await ask(['response_format', 'verbose_json'], ['timestamp_granularities[]', 'word'])
    expect(words.words[0]).toEqual({ word: 'Hello', start: 0, end: 0.4 })
    expect(words).not.toHaveProperty('segments')
  })

  test('is streamed as events that end with the complete text and its usage', async () => {
    const { headers, body } = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS, ['stream', 'true']])
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('x-gateway-cost-usd')).toBe(String(COST))
    const lines = String(body).split('\n\n').filter(Boolean)
    expect(lines.at(-1)).toBe('data: [DONE]')
    const events = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)))
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(TRANSCRIPT.text)
    expect(events.at(-1)).toEqual({
      type: 'transcript.text.done',
      text: TRANSCRIPT.text,
      usage: { type: 'duration', seconds: 2, cost_usd: COST },
    })
  })

  test('accepts its file as base64 in JSON too', async () => {
    for (const text of [
      wavOf(2).toString('base64'),
      `data:audio/wav;base64,${wavOf(2).toString('base64')}`,
    ]) {
      const { status, body } = await gateway.request('POST', TRANSCRIPTIONS, {
        body: { model: WHISPER, file: text, timestamp_granularities: null },
      })
      expect([status, body.usage.seconds]).toEqual([200, 2])
    }
    const answer = await gateway.request('POST', TRANSCRIPTIONS, { body: { model: WHISPER, file: '!!!' } })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'file' })
  })

  test('costs by the measured length of the file, of any kind', async () => {
    const { body } = await gateway.send(TRANSCRIPTIONS, [MODEL, ['file', webmOf(60), 'blob']])
    expect(body.usage).toEqual({
      type: 'duration',
      seconds: 60,
      cost_usd: expect.closeTo(60 * WHISPER_USD, 6),
    })
  })

  test("a transcription of which the upstream heard more is charged by the upstream's length", async () => {
    for (const told of [
      { duration: 120 },
      { duration: undefined, usage: { type: 'duration', seconds: 121 } },
    ]) {
      const spentBefore = await gateway.spent()
      gateway.upstream.answerNext(json(200, { ...TRANSCRIPT, ...told }))
      const { body } = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS])
      expect([body.duration, body.usage.seconds]).toEqual([120, 120])
      expect(body.usage.cost_usd).toBeCloseTo(120 * WHISPER_USD, 6)
      expect(await gateway.spent()).toBeCloseTo(spentBefore + body.usage.cost_usd, 9)
    }
  })

  test('without speech costs what the upstream reports, and nothing if it reports nothing', async () => {
    const spentBefore = await gateway.spent()
    gateway.upstream.answerNext(json(200, { text: '', segments: [] }))
    const { status, body } = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS])
    expect([status, body.text, body.usage.cost_usd]).toEqual([200, '', 0])
    expect(await gateway.spent()).toBe(spentBefore)
    gateway.upstream.answerNext(json(200, { ...TRANSCRIPT, text: '', segments: [] }))
    const silent = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS])
    expect([silent.body.text, silent.body.usage.cost_usd]).toEqual(['', COST])
  })

  test('is replayed for the same key and file, and charged once, whatever the boundary', async () => {
    const spentBefore = await gateway.spent()
    const key = { 'idempotency-key': 'transcribe-once' }
    const first = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS], key)
    const asked = gateway.upstream.requests.length
    const second = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS], key)
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(gateway.upstream.requests.length).toBe(asked)
    expect(await gateway.spent()).toBeCloseTo(spentBefore + COST, 9)
    const other = await gateway.send(TRANSCRIPTIONS, [MODEL, file(wavOf(2.1))], key)
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('a translation', () => {
  test('is requested from the upstream and returned as a translation', async () => {
    const parts: Part[] = [MODEL, TWO_SECONDS, ['response_format', 'verbose_json']]
    const { status, body } = await gateway.send(TRANSLATIONS, parts)
    expect([status, body.task, body.language]).toEqual([200, 'translate', 'en'])
    expect(gateway.upstream.requests.at(-1)?.path).toBe('/v1/audio/translations')
    expect(await gateway.records()).toMatchObject({ operation: 'translation', cost_usd: COST })
  })
})

describe('a transcription is refused', () => {
  const refuse = async (parts: readonly Part[], status: number, error: object) =>
    expectEnvelope(await gateway.send(TRANSCRIPTIONS, parts), status, error)

  test('with the name of the missing or invalid member, and nothing is charged', async () => {
    const spentBefore = await gateway.spent()
    const asked = gateway.upstream.requests.length
    await refuse([TWO_SECONDS], 400, { code: 'missing_required_parameter', param: 'model' })
    await refuse([MODEL], 400, { code: 'missing_required_parameter', param: 'file' })
    await refuse([MODEL, ['file', 'text']], 400, { code: 'invalid_value', param: 'file' })
    await refuse([['model', 'nobody'], TWO_SECONDS], 404, { code: 'model_not_found', param: 'model' })
    await refuse([['model', 'gpt-4o-mini'], TWO_SECONDS], 400, { code: 'invalid_value', param: 'model' })
    await refuse([MODEL, file(Buffer.from('not audio'))], 400, { code: 'invalid_value', param: 'file' })
    await refuse([MODEL, file(Buffer.alloc(0))], 400, { code: 'invalid_value', param: 'file' })
    await refuse([MODEL, TWO_SECONDS, TWO_SECONDS], 400, { code: 'invalid_value', param: 'file' })
    await refuse([MODEL, TWO_SECONDS, ['response_format', 'pdf']], 400, {
      code: 'invalid_value',
      param: 'response_format',
    })
    await refuse([MODEL, TWO_SECONDS, ['timestamp_granularities[]', 'word']], 400, {
      code: 'invalid_value',
      param: 'timestamp_granularities',
    })
    await refuse([MODEL, TWO_SECONDS, ['temperature', '3']], 400, {
      code: 'invalid_value',
      param: 'temperature',
    })
    const large = file(wavOf(1, { dataBytes: 25 * 1024 * 1024 + 1 - 44 }))
    await refuse([MODEL, large], 413, { code: 'request_too_large', param: 'file' })
    expect([await gateway.spent(), gateway.upstream.requests.length]).toEqual([spentBefore, asked])
  })

  test('a transcription is refused but not at exactly the limit', async () => {
    const { status } = await gateway.send(TRANSCRIPTIONS, [
      MODEL,
      file(wavOf(1, { sampleRate: 48_000, dataBytes: 25 * 1024 * 1024 - 44 })),
    ])
    expect(status).toBe(200)
    expect(gateway.upstream.requests.at(-1)?.file?.bytes.length).toBe(25 * 1024 * 1024)
  })

  test('without a key, without credit, and while the upstream fails', async () => {
    const stranger = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS], { authorization: 'Bearer no' })
    expect([stranger.status, stranger.body.error.code]).toEqual([401, 'invalid_api_key'])

    const spentBefore = await gateway.spent()
    gateway.upstream.answerNext(json(400, { error: { message: 'I cannot hear', param: 'file', code: null } }))
    await refuse([MODEL, TWO_SECONDS], 400, {
      code: 'invalid_request',
      param: 'file',
      message: 'I cannot hear',
    })
    for (let attempt = 0; attempt < 3; attempt += 1) gateway.upstream.answerNext(json(500, { error: {} }))
    const failed = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS])
    expect([failed.status, failed.body.error.code]).toEqual([502, 'provider_error'])
    expect(await gateway.spent()).toBe(spentBefore)

    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', { body: { name: 'poor' } })
    const { body: poor } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { name: 'poor', env: 'dev', scopes: ['inference'] },
    })
    const authorization = `Bearer ${poor.key}`
    const broke = await gateway.send(TRANSCRIPTIONS, [MODEL, TWO_SECONDS], { authorization })
    expect([broke.status, broke.body.error.code]).toEqual([402, 'insufficient_balance'])
  })
})
