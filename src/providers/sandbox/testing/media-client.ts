import sharp from 'sharp'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type {
  InputFile,
  MediaCall,
  MediaOperation,
  MediaProgress,
  MediaStart,
  UpstreamJob,
} from '../../media/media-operation.ts'
import type { ImageWork } from '../../media/media-work.ts'
import type { InferenceAnswer } from '../../provider.ts'
import { createSandboxProvider } from '../sandbox.ts'

/** Creates a sandbox with a simulated clock, so that no test waits. */
export function sandboxInNoTime() {
  const time = { nowMs: 1_700_000_000_000, sleptMs: 0 }
  const provider = createSandboxProvider({
    clock: fakeClock(() => time.nowMs),
    sleep: async (durationMs) => {
      time.sleptMs += durationMs
    },
  })
  return { provider: provider as Required<typeof provider>, time }
}

export const callContext = () => ({
  upstreamModel: 'upstream-model',
  requestId: 'req_test',
  timeouts: { connectMs: 1000, firstByteMs: 1000, idleMs: 1000 },
  cancellation: new Cancellation(),
})

export function mediaCall<Work>(work: Work, rest: Partial<MediaCall<Work>> = {}): MediaCall<Work> {
  return { ...callContext(), work, ...rest }
}

export function imageWork(rest: Partial<ImageWork<InputFile>> = {}): ImageWork<InputFile> {
  return {
    kind: 'image',
    prompt: 'A red fox in the forest',
    count: 1,
    size: '64x48',
    aspectRatio: null,
    quality: null,
    style: null,
    background: null,
    outputFormat: null,
    seed: null,
    images: [],
    mask: null,
    extra: {},
    ...rest,
  }
}

export async function lookAt<Work>(
  operation: MediaOperation<Work>,
  job: UpstreamJob,
): Promise<MediaProgress> {
  if (!operation.check) throw new Error('has no jobs')
  return operation.check({ ...callContext(), job })
}

/** Returns the bytes of the files of completed work. */
export function filesOf(answer: MediaStart | MediaProgress): Buffer[] {
  if (answer.kind !== 'done') throw new Error('not done')
  return answer.output.files.map((file) => {
    if (file.kind !== 'bytes') throw new Error('no bytes')
    return Buffer.from(file.bytes)
  })
}

export function firstFileOf(answer: MediaStart | MediaProgress): Buffer {
  const [file] = filesOf(answer)
  if (file === undefined) throw new Error('no file')
  return file
}

export async function jsonOf<Body>(answering: Promise<InferenceAnswer>): Promise<Body> {
  const answer = await answering
  if (answer.kind !== 'complete') throw new Error('answered with a stream')
  return JSON.parse(answer.payload.toString()) as Body
}

/** Creates an image of a disc on a plain background. */
export async function picture(
  options: { side?: number; ground?: string; format?: 'png' | 'jpeg' | 'webp' } = {},
) {
  const { side = 100, ground = '#3070c0', format = 'png' } = options
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">` +
    `<rect width="${side}" height="${side}" fill="${ground}"/>` +
    `<circle cx="${side / 2}" cy="${side / 2}" r="${side / 4}" fill="#e02020"/></svg>`
  return { bytes: await sharp(Buffer.from(svg)).toFormat(format).toBuffer(), contentType: `image/${format}` }
}

/** Returns red, green, blue and alpha of a pixel. */
export async function pixelOf(file: Uint8Array, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)]
}
