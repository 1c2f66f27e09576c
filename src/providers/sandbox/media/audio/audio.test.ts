import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseBuffer } from 'music-metadata'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SpeechWork } from '../../../media/media-work.ts'
import { callContext, sandboxInNoTime } from '../../testing/media-client.ts'
import { removeDirectory } from '../../../../../tests/support/remove-directory.ts'

const { provider } = sandboxInNoTime()
let directory = ''

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-audio-'))
})
afterAll(() => removeDirectory(directory))

const speechCall = (rest: Partial<SpeechWork>) => ({
  ...callContext(),
  work: {
    kind: 'speech',
    input: 'The quick brown fox jumps over the lazy dog.',
    voice: 'alloy',
    format: 'mp3',
    speed: 1,
    instructions: null,
    language: null,
    ...rest,
  } as const,
})

async function speak(rest: Partial<SpeechWork> = {}) {
  const { contentType, chunks } = await provider.speech.speak(speechCall(rest))
  const received: Uint8Array[] = []
  for await (const chunk of chunks) received.push(chunk)
  return { contentType, chunkCount: received.length, bytes: Buffer.concat(received) }
}

async function transcribe(bytes: Uint8Array, rest: object = {}) {
  const { format } = await parseBuffer(bytes)
  const path = join(directory, 'audio')
  await writeFile(path, bytes)
  const durationSeconds = format.duration ?? 0
  const audio = { path, filename: 'a', contentType: '', bytes: bytes.length, durationSeconds }
  const call = {
    audio,
    language: null,
    prompt: null,
    temperature: null,
    withWords: true,
    isTranslation: false,
  }
  return provider.transcription({ ...callContext(), ...call, ...rest })
}

/** The duration of 44 characters at 15 per second. */
const FOX_SECONDS = 44 / 15

test.for([
  ['mp3', 'audio/mpeg', 'MPEG', 0.1],
  ['wav', 'audio/wav', 'WAVE', 0.001],
  ['flac', 'audio/flac', 'FLAC', 0.001],
] as const)('speech in %s is %s of plausible length', async ([format, contentType, container, tolerance]) => {
  const { bytes, chunkCount, ...answer } = await speak({ format })
  expect(answer.contentType).toBe(contentType)
  expect(chunkCount).toBeGreaterThan(3)
  const found = (await parseBuffer(bytes)).format
  expect(found).toMatchObject({ container, sampleRate: 24_000, numberOfChannels: 1 })
  expect(Math.abs((found.duration ?? 0) - FOX_SECONDS)).toBeLessThan(tolerance)
})

test('pcm has no header', async () => {
  const { bytes } = await speak({ format: 'pcm' })
  expect(bytes).toHaveLength(Math.round(FOX_SECONDS * 24_000) * 2)
})

test.for(['opus', 'aac'] as const)('%s is refused as an error of the request', async (format) => {
  await expect(speak({ format })).rejects.toMatchObject({
    isRequestAtFault: true,
    details: { upstreamParam: 'response_format' },
  })
})

test('FLAC has exactly the samples of WAV', async () => {
  const flac = (await speak({ format: 'flac', input: 'Hi there' })).bytes
  const pcm = (await speak({ format: 'pcm', input: 'Hi there' })).bytes
  const firstFrame = flac.indexOf(Buffer.from([0xff, 0xf8, 0x70, 0x08]))
  // Sync code, number, size, checksum and subframe header come before the samples.
  const samples = flac.subarray(firstFrame + 9, firstFrame + 9 + 2000)
  expect(Buffer.from(samples).swap16()).toEqual(pcm.subarray(0, 2000))
})

test('speed, text and voice change the sound, and the same call repeats it', async () => {
  const { bytes } = await speak({ format: 'pcm' })
  expect((await speak({ format: 'pcm' })).bytes).toEqual(bytes)
  expect((await speak({ format: 'pcm', speed: 2 })).bytes.length).toBeCloseTo(bytes.length / 2, -1)
  expect((await speak({ format: 'pcm', voice: 'nova' })).bytes).not.toEqual(bytes)
  expect((await speak({ format: 'pcm', voice: 'EXAVITQu4vr4xnSDxMaL' })).bytes).not.toEqual(bytes)
})

test('speech is neither silent nor too loud', async () => {
  const { bytes } = await speak({ format: 'pcm' })
  const samples = Array.from(
    { length: bytes.length / 2 },
    (_, index) => bytes.readInt16LE(index * 2) / 32_768,
  )
  const loudness = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
  expect(loudness).toBeGreaterThan(0.04)
  expect(loudness).toBeLessThan(0.4)
})

test("OpenAI's eleven voices are listed", async () => {
  const voices = await provider.speech.voices(callContext())
  expect(voices.map(({ id }) => id).toSorted()).toEqual(
    'alloy ash ballad coral echo fable nova onyx sage shimmer verse'.split(' '),
  )
})

test('a stream of speech can be cut, hang or be invalid', async () => {
  await expect(speak({ input: 'Hello [[sandbox:cut after=2]]' })).rejects.toMatchObject({
    details: { failure: 'cut' },
  })
  await expect(speak({ input: 'Hello [[sandbox:error status=500]]' })).rejects.toMatchObject({
    details: { status: 500 },
  })
  expect((await speak({ input: 'Hello [[sandbox:empty]]' })).bytes).toHaveLength(0)
})

test('speech ends when it is cancelled', async () => {
  const call = speechCall({ input: 'word '.repeat(800) })
  const { chunks } = await provider.speech.speak(call)
  const reading = async () => {
    for await (const chunk of chunks) if (chunk.length > 0) call.cancellation.cancel(new Error('enough'))
  }
  await expect(reading()).rejects.toThrow('enough')
})

const SENTENCES = 'He said "hello", twice.\nThen: naïve café — 日本語! 😀'

test.for(['mp3', 'wav', 'flac'] as const)(
  'speech of the sandbox in %s is transcribed word for word',
  async (format) => {
    const { bytes } = await speak({ format, input: SENTENCES })
    expect((await transcribe(bytes)).text).toBe(SENTENCES)
    const long = 'The longest text that may be spoken. '.repeat(110)
    expect((await transcribe((await speak({ format, input: long, speed: 4 })).bytes)).text).toBe(long.trim())
  },
)

test('other audio gets a text of its length, always the same', async () => {
  const silence = (await speak({ format: 'wav', input: 'x'.repeat(300) })).bytes
  const foreign = Buffer.from(
    silence.toString('latin1').replace('Parkway sandbox', 'Another program'),
    'latin1',
  )
  const { text, segments, words, language } = await transcribe(foreign)
  expect(text.split(' ')).toHaveLength(48)
  expect(await transcribe(foreign)).toMatchObject({ text, segments, words, language })
  expect(language).toBe('en')
  expect(segments.map((segment) => segment.text).join(' ')).toBe(text)
  expect(words).toHaveLength(48)
  expect((await transcribe(foreign, { withWords: false })).words).toEqual([])
})

test('times increase and stay within the audio', async () => {
  const { bytes } = await speak({ format: 'wav', input: SENTENCES })
  const { segments, words } = await transcribe(bytes)
  for (const spans of [segments, words]) {
    let reached = 0
    for (const { startSeconds, endSeconds } of spans) {
      expect(startSeconds).toBeGreaterThanOrEqual(reached)
      expect(endSeconds).toBeGreaterThanOrEqual(startSeconds)
      reached = endSeconds
    }
    expect(reached).toBeLessThanOrEqual(Array.from(SENTENCES).length / 15 + 0.001)
  }
})

test('a translation is English', async () => {
  const { bytes } = await speak({ format: 'wav', input: 'Guten Tag, wie geht es Ihnen? Das ist schön.' })
  const translated = await transcribe(bytes, { isTranslation: true })
  expect(translated.language).toBe('en')
  expect(translated.text).toMatch(/^[A-Z][a-z .A-Z]+\.$/)
  expect((await transcribe(bytes)).language).toBe('de')
  const english = await speak({ format: 'wav' })
  expect((await transcribe(english.bytes, { isTranslation: true })).text).toContain('quick brown fox')
})

test('the prompt can echo or fail', async () => {
  const { bytes } = await speak({ format: 'wav' })
  expect((await transcribe(bytes, { prompt: '[[sandbox:echo Hello there.]]' })).text).toBe('Hello there.')
  const failing = transcribe(bytes, { prompt: '[[sandbox:error status=429 retry_after=3]]' })
  await expect(failing).rejects.toMatchObject({ details: { status: 429, retryAfterSeconds: 3 } })
  await expect(transcribe(bytes, { prompt: '[[sandbox:garbage]]' })).rejects.toMatchObject({
    details: { failure: 'invalid_answer' },
  })
})
