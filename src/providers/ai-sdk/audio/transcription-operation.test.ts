import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AUDIO_BYTES, readForm, writeAudioFile } from '../../../../tests/upstreams/audio-file.ts'
import {
  assemblyAiError,
  deepgramError,
  elevenLabsError,
  startAssemblyAiServer,
  startDeepgramServer,
  startElevenLabsServer,
} from '../../../../tests/upstreams/audio-servers.ts'
import { createTranscriptionCall } from '../../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../../tests/upstreams/call-provider.ts'
import { json } from '../../../../tests/upstreams/openai-server.ts'
import type { ScriptedReply, ScriptedServer } from '../../../../tests/upstreams/scripted-server.ts'
import { testUpstreamFailures } from '../../../../tests/upstreams/test-upstream-failures.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Transcript, TranscriptionCall } from '../../media/audio-operations.ts'
import type { Provider } from '../../provider.ts'
import {
  createAssemblyAiProvider,
  createDeepgramProvider,
  createElevenLabsProvider,
} from './audio-providers.ts'

interface Vendor {
  readonly start: () => Promise<ScriptedServer>
  readonly create: typeof createDeepgramProvider
  readonly model: string
  readonly refusal: (status: number, message: string, headers?: Record<string, string>) => ScriptedReply
}

const VENDORS: Record<string, Vendor> = {
  deepgram: {
    start: startDeepgramServer,
    create: createDeepgramProvider,
    model: 'nova-3',
    refusal: deepgramError,
  },
  elevenlabs: {
    start: startElevenLabsServer,
    create: createElevenLabsProvider,
    model: 'scribe_v1',
    refusal: elevenLabsError,
  },
  assemblyai: {
    start: startAssemblyAiServer,
    create: createAssemblyAiProvider,
    model: 'universal-2',
    refusal: assemblyAiError,
  },
}

const servers = new Map<string, ScriptedServer>()
let file: Awaited<ReturnType<typeof writeAudioFile>>

beforeAll(async () => {
  file = await writeAudioFile()
  for (const [name, { start }] of Object.entries(VENDORS)) servers.set(name, await start())
})

afterAll(async () => {
  await file.remove()
  for (const server of servers.values()) await server.close()
})

beforeEach(() => {
  for (const server of servers.values()) {
    server.requests.length = 0
    server.respondWith()
  }
})

function serverOf(name: string): ScriptedServer {
  const server = servers.get(name)
  if (server === undefined) throw new Error(`no server of ${name}`)
  return server
}

async function transcribe(name: string, members: Partial<TranscriptionCall> = {}): Promise<Transcript> {
  const vendor = VENDORS[name]
  const provider: Provider | undefined = vendor?.create({
    apiKeys: ['key-1'],
    baseUrl: serverOf(name).baseUrl,
  })
  const answer = await provider?.transcription?.(
    createTranscriptionCall(file.audio, vendor?.model ?? '', members),
  )
  if (answer === undefined) throw new Error('expected a transcript')
  return answer
}

describe.each(Object.entries(VENDORS))('transcription of %s', (name, vendor) => {
  test('returns text, language, words and the sentences made of them', async () => {
    expect(await transcribe(name, { withWords: true })).toMatchObject({
      text: 'Hello there. Bye.',
      language: 'en',
      segments: [
        { startSeconds: 0, endSeconds: 1, text: 'Hello there.' },
        { startSeconds: 1.1, endSeconds: 1.5, text: 'Bye.' },
      ],
      words: [
        { startSeconds: 0, endSeconds: 0.4, word: 'Hello' },
        { startSeconds: 0.5, endSeconds: 1, word: 'there.' },
        { startSeconds: 1.1, endSeconds: 1.5, word: 'Bye.' },
      ],
    })
    expect((await transcribe(name)).words).toEqual([])
  })

  test('sends the file with its length', async () => {
    await transcribe(name)
    const { headers, bytes } = await serverOf(name).requestNumber(0)
    expect(headers['content-length']).toBe(String(bytes.length))
    expect(bytes.includes(AUDIO_BYTES)).toBe(true)
  })

  test('a translation is refused before anything is sent', async () => {
    expect(await failureOf(transcribe(name, { isTranslation: true }))).toMatchObject({
      status: 400,
      upstreamParam: 'model',
    })
    expect(serverOf(name).requests).toEqual([])
  })

  testUpstreamFailures(`transcription of ${name}`, {
    server: () => serverOf(name),
    perform: (cancellation) => transcribe(name, { cancellation }),
    refusal: vendor.refusal,
    cutReply: json('{"results":{"chan'),
  })
})

describe('the request to a vendor', () => {
  const queryOf = ({ path }: { path: string }) =>
    Object.fromEntries(new URL(path, 'http://localhost').searchParams)

  test('Deepgram: has the language, or asks to detect it', async () => {
    await transcribe('deepgram', { language: 'tr' })
    await transcribe('deepgram')
    const [told, untold] = serverOf('deepgram').requests
    expect(told?.headers).toMatchObject({ authorization: 'Token key-1', 'content-type': 'audio/wav' })
    expect(queryOf(told ?? { path: '' })).toEqual({ model: 'nova-3', language: 'tr', smart_format: 'true' })
    expect(queryOf(untold ?? { path: '' })).toEqual({
      model: 'nova-3',
      detect_language: 'true',
      smart_format: 'true',
    })
  })

  test('ElevenLabs: words without speakers and noises', async () => {
    await transcribe('elevenlabs', { language: 'tr' })
    const form = await readForm(await serverOf('elevenlabs').requestNumber(0))
    const { file: sent, ...fields } = Object.fromEntries(form)
    expect(fields).toEqual({
      model_id: 'scribe_v1',
      diarize: 'false',
      language_code: 'tr',
      tag_audio_events: 'false',
      timestamps_granularity: 'word',
      file_format: 'other',
    })
    expect(form.getAll('diarize')).toEqual(['false'])
    expect(sent instanceof File && [sent.name, sent.type]).toEqual(['speech "one".wav', 'audio/wav'])
  })

  test('AssemblyAI: upload, submission, polling', async () => {
    await transcribe('assemblyai', { language: 'tr' })
    const seen = serverOf('assemblyai').requests.map(({ method, path }) => `${method} ${path}`)
    expect(seen).toEqual(['POST /v2/upload', 'POST /v2/transcript', 'GET /v2/transcript/a0'])
    expect(serverOf('assemblyai').requests[1]?.body).toEqual({
      speech_models: ['universal-2'],
      language_code: 'tr',
      audio_url: 'https://cdn.assemblyai.com/upload/1',
    })
  })

  test('AssemblyAI: an unreadable recording is reported to the client', async () => {
    serverOf('assemblyai').respondWith(
      json({ upload_url: 'https://cdn.assemblyai.com/upload/1' }),
      json({ id: 'a0', status: 'queued' }),
      json({ id: 'a0', status: 'error', error: 'File does not appear to contain audio' }),
    )
    expect(await failureOf(transcribe('assemblyai'))).toMatchObject({
      status: 422,
      upstreamMessage: 'File does not appear to contain audio',
      isRetryable: false,
    })
  })

  test('AssemblyAI: a cancelled call does not wait for the next poll', async () => {
    serverOf('assemblyai').respondWith(
      json({ upload_url: 'https://cdn.assemblyai.com/upload/1' }),
      json({ id: 'a0', status: 'queued' }),
      json({ id: 'a0', status: 'processing' }),
    )
    const cancellation = new Cancellation()
    const outcome = transcribe('assemblyai', { cancellation }).catch((error: unknown) => error)
    await serverOf('assemblyai').requestNumber(2)
    const reason = new Error('gone')
    cancellation.cancel(reason)
    expect(await outcome).toBe(reason)
  })
})
