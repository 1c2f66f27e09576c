import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AUDIO_BYTES, readForm, writeAudioFile } from '../../../tests/upstreams/audio-file.ts'
import { createTranscriptionCall } from '../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../tests/upstreams/call-provider.ts'
import { failure, json } from '../../../tests/upstreams/openai-server.ts'
import { startWireUpstream, type WireUpstream } from '../../../tests/upstreams/start-wire-upstream.ts'
import { testUpstreamFailures } from '../../../tests/upstreams/test-upstream-failures.ts'
import type { Transcript, TranscriptionCall } from '../media/audio-operations.ts'

let upstream: WireUpstream
let file: Awaited<ReturnType<typeof writeAudioFile>>

beforeAll(async () => {
  upstream = await startWireUpstream('groq', ['gsk-1', 'gsk-2'])
  file = await writeAudioFile()
})

beforeEach(() => {
  upstream.server.requests.length = 0
  upstream.server.respondWith(json(VERBOSE))
})

afterAll(async () => {
  await upstream.close()
  await file.remove()
})

const VERBOSE = {
  task: 'transcribe',
  language: 'English',
  duration: 1.5,
  text: ' Hello there. ',
  segments: [{ id: 0, start: 0, end: 1.25, text: ' Hello there.', avg_logprob: -0.1 }],
  words: [
    { word: 'Hello', start: 0, end: 0.5 },
    { word: 'there.', start: 0.5, end: 1.25 },
  ],
}

async function transcribe(
  members: Partial<TranscriptionCall> = {},
  model = 'whisper-large-v3',
): Promise<Transcript> {
  const answer = await upstream.provider.transcription?.(createTranscriptionCall(file.audio, model, members))
  if (answer === undefined) throw new Error('expected transcription')
  return answer
}

async function formNumber(index: number): Promise<FormData> {
  return readForm(await upstream.server.requestNumber(index))
}

describe('transcription over the wire of OpenAI', () => {
  test('sends the file with its length and returns text, language, segments and words', async () => {
    const transcript = await transcribe({
      language: 'en',
      prompt: 'Names',
      temperature: 0.2,
      withWords: true,
    })
    expect(transcript).toMatchObject({
      text: 'Hello there.',
      language: 'en',
      segments: [{ startSeconds: 0, endSeconds: 1.25, text: 'Hello there.' }],
      words: [
        { startSeconds: 0, endSeconds: 0.5, word: 'Hello' },
        { startSeconds: 0.5, endSeconds: 1.25, word: 'there.' },
      ],
    })
    const request = await upstream.server.requestNumber(0)
    expect(request.path).toBe('/v1/audio/transcriptions')
    expect(request.headers['content-length']).toBe(String(request.bytes.length))
    const form = await formNumber(0)
    const { file: sent, ...fields } = Object.fromEntries(form)
    expect(fields).toEqual({
      model: 'whisper-large-v3',
      response_format: 'verbose_json',
      language: 'en',
      prompt: 'Names',
      temperature: '0.2',
      'timestamp_granularities[]': 'segment',
    })
    expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
    if (!(sent instanceof File)) throw new Error('expected a file')
    expect([sent.name, sent.type]).toEqual(['speech "one".wav', 'audio/wav'])
    expect(Buffer.from(await sent.arrayBuffer())).toEqual(AUDIO_BYTES)
  })

  test('a translation uses its own path and has no language', async () => {
    await transcribe({ isTranslation: true, language: 'de', withWords: true })
    expect((await upstream.server.requestNumber(0)).path).toBe('/v1/audio/translations')
    expect([...(await formNumber(0)).keys()]).toEqual(['model', 'response_format', 'file'])
  })

  test('models that only return text are asked for text', async () => {
    upstream.server.respondWith(json({ text: 'Hello', usage: { type: 'tokens' } }))
    const transcript = await transcribe({ withWords: true }, 'gpt-4o-mini-transcribe')
    expect(transcript).toMatchObject({ text: 'Hello', language: null, segments: [], words: [] })
    expect((await formNumber(0)).get('response_format')).toBe('json')
    expect((await formNumber(0)).has('timestamp_granularities[]')).toBe(false)
  })

  test('a server that refuses timestamps is asked without them, and remembered', async () => {
    const message = 'Currently do not support verbose_json for this model'
    upstream.server.respondWith(failure(400, { message }), json({ text: 'Hello' }))
    expect((await transcribe({}, 'self-made')).text).toBe('Hello')
    await transcribe({}, 'self-made')
    const formats = await Promise.all(
      [0, 1, 2].map(async (index) => (await formNumber(index)).get('response_format')),
    )
    expect(formats).toEqual(['verbose_json', 'json', 'json'])
  })

  test('the file is sent again with another key if the first is refused', async () => {
    upstream.server.respondWith(failure(401), json(VERBOSE))
    await transcribe()
    const [first, second] = upstream.server.requests
    expect(first?.headers.authorization).not.toBe(second?.headers.authorization)
    expect(second?.text).toContain(AUDIO_BYTES.toString())
  })

  test('an answer without text is an invalid answer', async () => {
    upstream.server.respondWith(json({ segments: [] }))
    expect(await failureOf(transcribe())).toMatchObject({ failure: 'invalid_answer' })
  })
})

testUpstreamFailures('transcription', {
  server: () => upstream.server,
  perform: (cancellation) => transcribe({ cancellation }),
  refusal: (status, message, headers) => failure(status, { message }, headers),
  cutReply: json('{"text":"Hel'),
})
