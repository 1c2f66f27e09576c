import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  audioReply,
  deepgramError,
  elevenLabsError,
  startDeepgramServer,
  startElevenLabsServer,
} from '../../../../tests/upstreams/audio-servers.ts'
import { createMediaCall, createSpeechCall, readSpeech } from '../../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../../tests/upstreams/call-provider.ts'
import type { ScriptedReply, ScriptedServer } from '../../../../tests/upstreams/scripted-server.ts'
import { testUpstreamFailures } from '../../../../tests/upstreams/test-upstream-failures.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { SpeechOperation } from '../../media/audio-operations.ts'
import { AUDIO_FORMATS, type MusicWork, type SpeechWork } from '../../media/media-work.ts'
import { OPENAI_VOICE_NAMES } from '../../media/openai-voices.ts'
import type { Provider } from '../../provider.ts'
import { createDeepgramProvider, createElevenLabsProvider } from './audio-providers.ts'

interface Vendor {
  readonly start: () => Promise<ScriptedServer>
  readonly create: typeof createDeepgramProvider
  readonly model: string
  readonly refusal: (status: number, message: string, headers?: Record<string, string>) => ScriptedReply
}

const VENDORS: Record<string, Vendor> = {
  elevenlabs: {
    start: startElevenLabsServer,
    create: createElevenLabsProvider,
    model: 'eleven_multilingual_v2',
    refusal: elevenLabsError,
  },
  deepgram: {
    start: startDeepgramServer,
    create: createDeepgramProvider,
    model: 'aura-2',
    refusal: deepgramError,
  },
}

let servers: Map<string, ScriptedServer>

beforeAll(async () => {
  const started = Object.entries(VENDORS).map(async ([name, { start }]) => [name, await start()] as const)
  servers = new Map(await Promise.all(started))
})

afterAll(async () => {
  for (const server of servers.values()) await server.close()
})

beforeEach(() => {
  for (const server of servers.values()) {
    server.requests.length = 0
    server.respondWith(audioReply('ID3', ' and so on'))
  }
})

function serverOf(name: string): ScriptedServer {
  const server = servers.get(name)
  if (server === undefined) throw new Error(`no server of ${name}`)
  return server
}

function speechOf(name: string): SpeechOperation {
  const provider: Provider | undefined = VENDORS[name]?.create({
    apiKeys: ['key-1'],
    baseUrl: serverOf(name).baseUrl,
  })
  if (provider?.speech === undefined) throw new Error('expected speech')
  return provider.speech
}

const speak = (name: string, work: Partial<SpeechWork> = {}, cancellation = new Cancellation()) =>
  speechOf(name).speak(createSpeechCall(work, VENDORS[name]?.model ?? '', cancellation))

describe.each(Object.entries(VENDORS))('speech of %s', (name, vendor) => {
  test('passes the audio on as it arrives', async () => {
    serverOf(name).respondWith({ ...audioReply('ID3'), ending: 'hang' })
    const { contentType, chunks } = await speak(name)
    expect(contentType).toBe('audio/mpeg')
    const iterator = chunks[Symbol.asyncIterator]()
    expect(Buffer.from((await iterator.next()).value ?? []).toString()).toBe('ID3')
    const { abandoned } = await serverOf(name).requestNumber(0)
    await iterator.return?.()
    await abandoned
  })

  test('a cancelled call ends the audio with its reason', async () => {
    serverOf(name).respondWith({ ...audioReply('ID3'), ending: 'hang' })
    const cancellation = new Cancellation()
    const { chunks } = await speak(name, {}, cancellation)
    const iterator = chunks[Symbol.asyncIterator]()
    await iterator.next()
    const reason = new Error('gone')
    cancellation.cancel(reason)
    await expect(iterator.next()).rejects.toBe(reason)
  })

  test('every voice name of OpenAI has a voice', async () => {
    for (const voice of [...OPENAI_VOICE_NAMES, 'own']) await readSpeech(await speak(name, { voice }))
    const paths = serverOf(name).requests.map(({ path }) => path)
    for (const voice of OPENAI_VOICE_NAMES) expect(paths.join()).not.toContain(voice)
    expect(paths.at(-1)).toContain('own')
  })

  testUpstreamFailures(`speech of ${name}`, {
    server: () => serverOf(name),
    perform: async (cancellation) => readSpeech(await speak(name, {}, cancellation)),
    refusal: vendor.refusal,
    cutReply: { headers: { 'content-type': 'audio/mpeg', 'content-length': '1000' }, chunks: ['ID3'] },
  })
})

describe('the request to ElevenLabs', () => {
  test('has the streaming address, the voice, the format and a supported speed', async () => {
    await readSpeech(await speak('elevenlabs', { voice: 'own-1', speed: 3, language: 'tr' }))
    const { path, headers, body } = await serverOf('elevenlabs').requestNumber(0)
    expect(path).toBe('/v1/text-to-speech/own-1/stream?output_format=mp3_44100_128')
    expect(headers['xi-api-key']).toBe('key-1')
    expect(body).toEqual({
      text: 'Hello there',
      model_id: 'eleven_multilingual_v2',
      voice_settings: { speed: 1.2 },
    })
  })

  test('uses raw samples for wav and adds a header', async () => {
    serverOf('elevenlabs').respondWith(audioReply(Buffer.alloc(100)))
    const answer = await speak('elevenlabs', { format: 'wav' })
    const bytes = await readSpeech(answer)
    expect(answer.contentType).toBe('audio/wav')
    expect([bytes.subarray(0, 4).toString(), bytes.length]).toEqual(['RIFF', 144])
    expect(serverOf('elevenlabs').requests[0]?.path).toContain('pcm_24000')
  })

  test('is refused for unsupported formats before anything is sent', async () => {
    expect(await failureOf(speak('elevenlabs', { format: 'flac' }))).toMatchObject({
      status: 400,
      upstreamParam: 'response_format',
    })
    expect(serverOf('elevenlabs').requests).toEqual([])
  })

  test('its voices are those of the account', async () => {
    const server = await startElevenLabsServer()
    const provider = createElevenLabsProvider({ apiKeys: ['key-1'], baseUrl: server.baseUrl })
    expect(await provider.speech?.voices(createSpeechCall({}, ''))).toEqual([
      {
        id: '21m00Tcm4TlvDq8ikWAM',
        name: 'Rachel',
        language: 'en',
        gender: 'female',
        previewUrl: 'https://storage.example.com/rachel.mp3',
      },
      { id: 'own-1', name: 'My clone', language: 'multi', gender: 'neutral' },
    ])
    await server.close()
  })
})

describe('the request to Deepgram', () => {
  test('has the voice in the model name, and every format', async () => {
    for (const format of AUDIO_FORMATS) await readSpeech(await speak('deepgram', { format, voice: 'nova' }))
    const queries = serverOf('deepgram').requests.map(
      ({ path }) => new URL(path, 'http://localhost').searchParams,
    )
    expect(new Set(queries.map((query) => query.get('model')))).toEqual(new Set(['aura-2-helena-en']))
    expect(queries.map((query) => query.get('encoding'))).toEqual([
      'mp3',
      'opus',
      'aac',
      'flac',
      'linear16',
      'linear16',
    ])
  })

  test('its voices include every voice that replaces one of OpenAI', async () => {
    const voices = await speechOf('deepgram').voices(createSpeechCall({}, ''))
    for (const voice of OPENAI_VOICE_NAMES) await readSpeech(await speak('deepgram', { voice }))
    const asked = serverOf('deepgram').requests.map(({ path }) => /aura-2-(\w+)-en/.exec(path)?.[1] ?? path)
    expect(voices.map(({ id }) => id)).toEqual(expect.arrayContaining(asked))
  })
})

describe('music of ElevenLabs', () => {
  const WORK: MusicWork = {
    kind: 'music',
    prompt: 'a waltz',
    lyrics: null,
    isInstrumental: true,
    durationSeconds: 30,
    outputFormat: 'mp3',
  }

  const compose = async (work: Partial<MusicWork> = {}, cancellation = new Cancellation()) => {
    const { baseUrl } = serverOf('elevenlabs')
    const provider = createElevenLabsProvider({ apiKeys: ['key-1'], baseUrl })
    return provider.music?.start(createMediaCall({ ...WORK, ...work }, 'music_v1', cancellation))
  }

  test('is requested by its length and returned as bytes', async () => {
    expect(await compose()).toEqual({
      kind: 'done',
      output: {
        files: [
          { kind: 'bytes', bytes: new Uint8Array(Buffer.from('ID3 and so on')), contentType: 'audio/mpeg' },
        ],
      },
    })
    expect(serverOf('elevenlabs').requests[0]).toMatchObject({
      path: '/v1/music?output_format=mp3_44100_128',
      body: { prompt: 'a waltz', music_length_ms: 30_000, model_id: 'music_v1', force_instrumental: true },
    })
  })

  test('lyrics are part of the request', async () => {
    await compose({ lyrics: 'la la', isInstrumental: false })
    expect(serverOf('elevenlabs').requests[0]?.body).toMatchObject({
      prompt: 'a waltz\n\nLyrics:\nla la',
      force_instrumental: false,
    })
  })

  test.each([
    [1, 44_100 * 2],
    [2, 44_100 * 4],
  ])('wav of %i channels is recognised by the number of its samples', async (channels, bytes) => {
    serverOf('elevenlabs').respondWith(audioReply(Buffer.alloc(bytes)))
    const answer = await compose({ outputFormat: 'wav', durationSeconds: 1 })
    const file = answer?.kind === 'done' ? answer.output.files[0] : undefined
    if (file?.kind !== 'bytes') throw new Error('expected bytes')
    expect(file.contentType).toBe('audio/wav')
    expect(Buffer.from(file.bytes).readUInt16LE(22)).toBe(channels)
    expect(Buffer.from(file.bytes).readUInt32LE(40)).toBe(bytes)
  })

  testUpstreamFailures('music of elevenlabs', {
    server: () => serverOf('elevenlabs'),
    perform: (cancellation) => compose({}, cancellation),
    refusal: elevenLabsError,
    cutReply: { headers: { 'content-type': 'audio/mpeg', 'content-length': '1000' }, chunks: ['ID3'] },
  })
})
