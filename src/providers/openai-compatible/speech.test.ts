import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSpeechCall, readSpeech } from '../../../tests/upstreams/call-operations.ts'
import { failureOf } from '../../../tests/upstreams/call-provider.ts'
import { failure, json } from '../../../tests/upstreams/openai-server.ts'
import { startWireUpstream, type WireUpstream } from '../../../tests/upstreams/start-wire-upstream.ts'
import { testUpstreamFailures } from '../../../tests/upstreams/test-upstream-failures.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { SpeechOperation } from '../media/audio-operations.ts'
import type { SpeechWork } from '../media/media-work.ts'
import { OPENAI_VOICE_NAMES } from '../media/openai-voices.ts'

let openai: WireUpstream
let groq: WireUpstream

beforeAll(async () => {
  openai = await startWireUpstream('openai')
  groq = await startWireUpstream('groq')
})

beforeEach(() => {
  openai.server.requests.length = 0
  openai.server.respondWith(audio('ID3', ' and so on'))
  groq.server.requests.length = 0
  groq.server.respondWith(audio('RIFF'))
})

afterAll(async () => {
  await openai.close()
  await groq.close()
})

const audio = (...chunks: string[]) => ({ headers: { 'content-type': 'audio/mpeg' }, chunks })

function speechOf({ provider }: WireUpstream): SpeechOperation {
  if (provider.speech === undefined) throw new Error('expected speech')
  return provider.speech
}

const speak = (work: Partial<SpeechWork>, model = 'gpt-4o-mini-tts', upstream = openai) =>
  speechOf(upstream).speak(createSpeechCall(work, model))

describe('speech over the wire of OpenAI', () => {
  test('sends the requested parameters and passes the audio on', async () => {
    const answer = await speak({ voice: 'coral', format: 'opus', speed: 1.5, instructions: 'Whisper.' })
    expect(answer.contentType).toBe('audio/mpeg')
    expect((await readSpeech(answer)).toString()).toBe('ID3 and so on')
    expect(openai.server.requests[0]).toMatchObject({
      path: '/v1/audio/speech',
      body: {
        model: 'gpt-4o-mini-tts',
        input: 'Hello there',
        voice: 'coral',
        response_format: 'opus',
        speed: 1.5,
        instructions: 'Whisper.',
      },
    })
  })

  test('audio arrives as it is made, and the upstream waits for the reader', async () => {
    const written = { chunks: 0 }
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(64 * 1024)
        written.chunks += 1
      }
    }
    openai.server.respondWith({
      headers: { 'content-type': 'audio/mpeg' },
      chunks: ['first'],
      more: endless(),
    })
    const { chunks } = await speak({})
    const iterator = chunks[Symbol.asyncIterator]()
    const first = await iterator.next()
    expect(Buffer.from(first.value ?? []).toString()).toContain('first')
    // The socket buffers fill up, and then the upstream cannot write more.
    let before = -1
    while (before !== written.chunks) {
      before = written.chunks
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(written.chunks).toBeLessThan(400)
    const { abandoned } = await openai.server.requestNumber(0)
    await iterator.return?.()
    await abandoned
  })

  test('an answer that is not read is closed', async () => {
    openai.server.respondWith({ ...audio('ID3'), ending: 'hang' })
    const { chunks } = await speak({})
    const { abandoned } = await openai.server.requestNumber(0)
    await chunks[Symbol.asyncIterator]().return?.()
    await abandoned
  })

  test('a cancelled call ends the audio with its reason', async () => {
    openai.server.respondWith({ ...audio('ID3'), ending: 'hang' })
    const cancellation = new Cancellation()
    const answer = await speechOf(openai).speak(createSpeechCall({}, 'tts-1', cancellation))
    const iterator = answer.chunks[Symbol.asyncIterator]()
    await iterator.next()
    const reason = new Error('gone')
    cancellation.cancel(reason)
    await expect(iterator.next()).rejects.toBe(reason)
  })

  test('older models get only the voices and members they know', async () => {
    await readSpeech(await speak({ voice: 'verse', instructions: 'Whisper.' }, 'tts-1'))
    expect(openai.server.requests[0]?.body).toEqual({
      model: 'tts-1',
      input: 'Hello there',
      voice: 'ash',
      response_format: 'mp3',
    })
  })

  test('every voice name of OpenAI has a voice at Groq, and other ids are kept', async () => {
    const voices = await speechOf(groq).voices({ ...createSpeechCall({}, '') })
    for (const voice of [...OPENAI_VOICE_NAMES, 'troy'])
      await readSpeech(await speak({ voice }, 'canopylabs/orpheus-v1-english', groq))
    const asked = groq.server.bodies().map((body) => body.voice)
    expect(voices.map(({ id }) => id)).toEqual(expect.arrayContaining(asked))
    expect(asked.at(-1)).toBe('troy')
  })

  test('JSON instead of audio is an invalid answer', async () => {
    openai.server.respondWith(json({ error: null }))
    expect(await failureOf(speak({}))).toMatchObject({ failure: 'invalid_answer' })
  })

  test('voices are those of OpenAI', async () => {
    const voices = await speechOf(openai).voices({ ...createSpeechCall({}, '') })
    expect(voices.map(({ id }) => id)).toEqual(expect.arrayContaining([...OPENAI_VOICE_NAMES]))
    expect(voices[0]).toEqual({ id: 'alloy', name: 'Alloy', language: 'multi', gender: 'neutral' })
  })
})

testUpstreamFailures('speech', {
  server: () => openai.server,
  perform: async (cancellation) =>
    readSpeech(await speechOf(openai).speak(createSpeechCall({}, 'tts-1', cancellation))),
  refusal: (status, message, headers) => failure(status, { message }, headers),
  cutReply: { ...audio('ID3'), headers: { 'content-type': 'audio/mpeg', 'content-length': '1000' } },
})
