import { parseBuffer } from 'music-metadata'
import { expect, test } from 'vitest'
import type { InputFile } from '../../../media/media-operation.ts'
import type { MusicWork, VideoWork } from '../../../media/media-work.ts'
import { firstFileOf, lookAt, mediaCall, picture, sandboxInNoTime } from '../../testing/media-client.ts'
import { createRenderer } from '../renderer.ts'
import { chooseVideoShape } from './video-shape.ts'

const videoWork = (rest: Partial<VideoWork<InputFile>> = {}): VideoWork<InputFile> => ({
  kind: 'video',
  prompt: 'A sunset over the sea',
  image: null,
  durationSeconds: 1,
  aspectRatio: null,
  resolution: null,
  seed: null,
  negativePrompt: null,
  withAudio: null,
  ...rest,
})

const musicWork = (rest: Partial<MusicWork> = {}): MusicWork => ({
  kind: 'music',
  prompt: 'A fast dance tune',
  lyrics: null,
  isInstrumental: true,
  durationSeconds: 4,
  outputFormat: 'mp3',
  ...rest,
})

const sandbox = sandboxInNoTime()

async function film(rest: Partial<VideoWork<InputFile>> = {}, { provider, time } = sandbox) {
  const started = await provider.video.start(mediaCall(videoWork(rest)))
  if (started.kind !== 'started') throw new Error('was done at once')
  time.nowMs += 1000
  return lookAt(provider.video, started.job)
}

async function play(rest: Partial<MusicWork> = {}, { provider, time } = sandbox) {
  const started = await provider.music.start(mediaCall(musicWork(rest)))
  if (started.kind !== 'started') throw new Error('was done at once')
  time.nowMs += 1000
  return lookAt(provider.music, started.job)
}

/** Returns the content of the first box at this path in the box tree of an MP4. */
function findBox(bytes: Buffer, [name, ...inner]: readonly string[], headBytes = 8): Buffer {
  for (let offset = 0; offset + 8 <= bytes.length; offset += Math.max(8, bytes.readUInt32BE(offset))) {
    if (bytes.toString('latin1', offset + 4, offset + 8) !== name) continue
    const content = bytes.subarray(offset + headBytes, offset + bytes.readUInt32BE(offset))
    return inner.length === 0 ? content : findBox(content, inner)
  }
  throw new Error(`no box ${name}`)
}

function describeVideo(bytes: Buffer) {
  const movie = findBox(bytes, ['moov', 'mvhd'])
  const track = findBox(bytes, ['moov', 'trak', 'tkhd'])
  const entries = findBox(bytes, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'])
  const sizes = findBox(bytes, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsz'])
  return {
    seconds: movie.readUInt32BE(16) / movie.readUInt32BE(12),
    width: track.readUInt32BE(76) / 65_536,
    height: track.readUInt32BE(80) / 65_536,
    codec: entries.toString('latin1', 12, 16),
    frames: sizes.readUInt32BE(8),
  }
}

test.for([
  [{ durationSeconds: 2 }, { seconds: 2, width: 640, height: 360, frames: 24 }],
  [{ aspectRatio: '9:16' }, { seconds: 1, width: 360, height: 640, frames: 12 }],
  [{ aspectRatio: '1:1' }, { seconds: 1, width: 480, height: 480, frames: 12 }],
  [{ resolution: '1920x1080' }, { seconds: 1, width: 640, height: 360, frames: 12 }],
  [
    { resolution: '720p', durationSeconds: 11 },
    { seconds: 11, width: 480, height: 270, frames: 88 },
  ],
] as const)('%o gives an MP4 of that duration and ratio', async ([rest, expected]) => {
  const answer = await film(rest)
  expect(answer).toMatchObject({
    kind: 'done',
    output: { files: [{ contentType: 'video/mp4' }], seconds: expected.seconds },
  })
  const file = firstFileOf(answer)
  expect(file.toString('latin1', 4, 8)).toBe('ftyp')
  expect(describeVideo(file)).toEqual({ ...expected, codec: 'avc1' })
})

test.for(['16:9', '9:16', '4:3', '3:4', '1:1', '21:9', '3:2', '2.39:1'])(
  'the ratio %s is kept',
  (aspectRatio) => {
    const [width = 1, height = 1] = aspectRatio.split(':').map(Number)
    for (const seconds of [5, 60]) {
      const shape = chooseVideoShape({ aspectRatio, resolution: null }, seconds)
      expect((shape.width % 2) + (shape.height % 2)).toBe(0)
      expect(Math.abs(shape.width / shape.height / (width / height) - 1)).toBeLessThan(0.005)
    }
  },
)

test('the same work gives the same video in any process, another seed another one', async () => {
  const file = firstFileOf(await film({ seed: 1 }))
  expect(firstFileOf(await film({ seed: 1 }, sandboxInNoTime()))).toEqual(file)
  expect(firstFileOf(await film({ seed: 2 }))).not.toEqual(file)
})

test('a video from an image has its ratio, and a job small enough to store', async () => {
  const image = await picture({ side: 800, format: 'jpeg' })
  expect(describeVideo(firstFileOf(await film({ image })))).toMatchObject({ width: 480, height: 480 })
  const started = await sandbox.provider.video.start(mediaCall(videoWork({ image })))
  expect(JSON.stringify(started).length).toBeLessThan(50_000)
  const wide = await film({ image, aspectRatio: '16:9' })
  expect(describeVideo(firstFileOf(wide))).toMatchObject({ width: 640, height: 360 })
})

test('a file that is not an image is refused before a job begins', async () => {
  const image = { bytes: Buffer.from('hello'), contentType: 'image/png' }
  await expect(film({ image })).rejects.toMatchObject({ isRequestAtFault: true })
})

test.for([
  ['mp3', 'audio/mpeg', 0.15],
  ['wav', 'audio/wav', 0.001],
] as const)('music in %s has the requested duration', async ([outputFormat, contentType, tolerance]) => {
  const answer = await play({ outputFormat, durationSeconds: 7 })
  expect(answer).toMatchObject({ output: { files: [{ contentType }], seconds: 7 } })
  const { format } = await parseBuffer(firstFileOf(answer))
  expect(format).toMatchObject({ sampleRate: 24_000, numberOfChannels: 2 })
  expect(Math.abs((format.duration ?? 0) - 7)).toBeLessThan(tolerance)
})

test('music depends on its prompt and its lyrics, and nothing else', async () => {
  const tune = firstFileOf(await play())
  expect(firstFileOf(await play({}, sandboxInNoTime()))).toEqual(tune)
  expect(firstFileOf(await play({ prompt: 'A sad slow ballad' }))).not.toEqual(tune)
  expect(firstFileOf(await play({ lyrics: 'La la la', isInstrumental: false }))).not.toEqual(tune)
})

test('music is neither silent nor too loud', async () => {
  const wav = firstFileOf(await play({ outputFormat: 'wav' }))
  const start = wav.indexOf('data') + 8
  let sum = 0
  for (let offset = start; offset < wav.length; offset += 2) sum += (wav.readInt16LE(offset) / 32_768) ** 2
  const loudness = Math.sqrt(sum / ((wav.length - start) / 2))
  expect(loudness).toBeGreaterThan(0.05)
  expect(loudness).toBeLessThan(0.5)
})

test('a cancelled rendering ends, and the next one is made', async () => {
  const renderer = createRenderer()
  const rendering = { kind: 'music', prompt: '', seedText: '', isSung: false, format: 'wav' } as const
  const [current, waiting] = [new AbortController(), new AbortController()]
  const first = renderer.render({ ...rendering, durationSeconds: 600 }, current.signal)
  const second = renderer.render({ ...rendering, durationSeconds: 600 }, waiting.signal)
  const third = renderer.render({ ...rendering, durationSeconds: 1 }, new AbortController().signal)
  waiting.abort(new Error('no need'))
  current.abort(new Error('enough'))
  await expect(first).rejects.toThrow('enough')
  await expect(second).rejects.toThrow('no need')
  expect((await third).length).toBeGreaterThan(24_000 * 4)
})

test('videos and music fail by job', async () => {
  await expect(film({ prompt: 'x [[sandbox:job-fail percent=10 code=moderated]]' })).rejects.toMatchObject({
    details: { status: 500, upstreamCode: 'moderated' },
  })
  await expect(play({ prompt: 'x [[sandbox:job-lost]]' })).rejects.toMatchObject({ details: { status: 404 } })
  expect(await film({ prompt: 'x [[sandbox:job ms=4000]]' })).toMatchObject({
    kind: 'running',
    progress: 0.25,
  })
})
