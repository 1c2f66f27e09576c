import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mp3Of, wavOf } from '../audio/audio-files.ts'
import { AUDIO, TRANSCRIPT } from '../audio/audio-upstream.ts'
import { startAudioGateway, TTS, WHISPER, type AudioGateway } from '../audio/start-audio-gateway.ts'

let gateway: AudioGateway
let client: OpenAI
beforeAll(async () => {
  gateway = await startAudioGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})
afterAll(() => gateway.close())

const talk = () => toFile(wavOf(2), 'talk.wav')

describe('audio with the OpenAI SDK', () => {
  test('speech is returned as a response with audio', async () => {
    const response = await client.audio.speech.create({ model: TTS, input: 'Hi', voice: 'coral' })
    expect(Buffer.from(await response.arrayBuffer()).equals(AUDIO)).toBe(true)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
  })

  test('a transcription is returned as JSON', async () => {
    const transcription = await client.audio.transcriptions.create({ model: WHISPER, file: await talk() })
    expect(transcription.text).toBe(TRANSCRIPT.text)
    expect(transcription.usage).toMatchObject({ type: 'duration', seconds: 2 })
  })

  test('a transcription has times of segments and words', async () => {
    const transcription = await client.audio.transcriptions.create({
      model: 'whisper-1',
      file: await toFile(mp3Of(2), 'talk.mp3'),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      language: 'en',
      temperature: 0.1,
    })
    expect(transcription.duration).toBeCloseTo(2, 1)
    expect(transcription.segments?.map(({ text }) => text)).toEqual(['Hello there.', 'General Kenobi.'])
    expect(transcription.words?.map(({ word }) => word)).toEqual(['Hello', 'there'])
  })

  test('a transcription is returned as text and as subtitles', async () => {
    for (const [format, text] of [
      ['text', /^Hello there\. General Kenobi\.\n$/],
      ['srt', /^1\n00:00:00,000 --> 00:00:00,800\nHello there\./],
      ['vtt', /^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.800\nHello there\./],
    ] as const) {
      const file = await talk()
      expect(
        await client.audio.transcriptions.create({ model: WHISPER, file, response_format: format }),
      ).toMatch(text)
    }
  })

  test('a transcription is streamed', async () => {
    const stream = await client.audio.transcriptions.create({
      model: WHISPER,
      file: await talk(),
      stream: true,
    })
    let text = ''
    let done = ''
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta
      else if (event.type === 'transcript.text.done') done = event.text
    }
    expect([text, done]).toEqual([TRANSCRIPT.text, TRANSCRIPT.text])
  })

  test('a translation is returned as JSON', async () => {
    const translation = await client.audio.translations.create({ model: WHISPER, file: await talk() })
    expect(translation.text).toBe(TRANSCRIPT.text)
  })

  test('a file that is not audio is a bad request with the name of the field', async () => {
    const file = await toFile(Buffer.from('nothing'), 'a.wav')
    await expect(client.audio.transcriptions.create({ model: WHISPER, file })).rejects.toMatchObject({
      status: 400,
      param: 'file',
    })
  })
})
