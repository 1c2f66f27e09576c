import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPENAI_VOICE_NAMES } from '../../src/providers/media/openai-voices.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { formOf, SPEECH, TRANSCRIPTIONS, VOICES, WHISPER } from './start-audio-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const

const INPUT = 'The quick brown fox jumps over the lazy dog.'

async function speak(format: string): Promise<Response> {
  return gateway.fetch('POST', SPEECH, {
    body: { model: 'tts-1', input: INPUT, voice: 'alloy', response_format: format },
  })
}

test.each(Object.entries(CONTENT_TYPES))('the sandbox supports %s', async (format, contentType) => {
  const response = await speak(format)
  const audio = await response.arrayBuffer()
  expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([200, contentType])
  expect(response.headers.get('x-gateway-provider')).toBe('sandbox')
  expect(audio.byteLength).toBeGreaterThan(1000)
})

test.each(['opus', 'aac'])('the sandbox refuses %s and names the supported formats', async (format) => {
  const response = await speak(format)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: {
      message: `The sandbox has no encoder for ${format}. Ask it for mp3, flac, wav or pcm; a provider that is configured makes ${format}.`,
      param: 'response_format',
    },
  })
})

test.each(OPENAI_VOICE_NAMES)("OpenAI's voice %s always works", async (voice) => {
  const response = await gateway.fetch('POST', SPEECH, { body: { model: 'tts-1', input: 'Hi', voice } })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
})

test('an unknown voice is refused', async () => {
  const body = { model: 'tts-1', input: 'Hi', voice: 'nobody' }
  const { status, body: answer } = await gateway.request('POST', SPEECH, { body })
  expect([status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_value', 'voice'])
  expect(answer.error.message).toContain('GET /v1/audio/voices')
})

test.each(['mp3', 'flac', 'wav'])('speech of the sandbox as %s is transcribed again', async (format) => {
  const audio = Buffer.from(await (await speak(format)).arrayBuffer())
  const response = await fetch(gateway.baseUrl + TRANSCRIPTIONS, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: formOf([
      ['model', WHISPER],
      ['file', audio, 'nameless'],
    ]),
  })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ text: INPUT, duration: expect.closeTo(3, -1) })
})

test('every voice of the sandbox can be used', async () => {
  const { body } = await gateway.request('GET', `${VOICES}?limit=100`)
  const [voice] = body.data
  const response = await gateway.fetch('POST', SPEECH, {
    body: { model: 'tts-1', input: 'Hi', voice: voice.id },
  })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
})
