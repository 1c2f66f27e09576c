import { Type, type Static } from 'typebox'
import type { InputFile, MediaCall, MediaOperation } from '../../../media/media-operation.ts'
import type { VideoWork } from '../../../media/media-work.ts'
import { createRandomFromText } from '../../../../kernel/seeded-random.ts'
import { answerByJob } from '../answer-by-job.ts'
import type { SandboxParts } from '../begin-call.ts'
import { loadSharp } from '../images/load-sharp.ts'
import { openPicture, usePictures } from '../images/open-picture.ts'
import { paintBackdrop, paintCaption } from '../images/paint-scene.ts'
import type { RecentOutputs } from '../recent-outputs.ts'
import type { Renderer } from '../renderer.ts'
import { chooseVideoShape, type VideoShape } from './video-shape.ts'

const SECONDS_MAX = 120
const FIRST_FRAME_QUALITY = 80

const nullableText = Type.Union([Type.String(), Type.Null()])
const VideoRecipe = Type.Object({
  model: Type.String(),
  prompt: Type.String(),
  durationSeconds: Type.Number({ minimum: 1, maximum: SECONDS_MAX }),
  aspectRatio: nullableText,
  resolution: nullableText,
  seed: Type.Union([Type.Number(), Type.Null()]),
  /** A WebP in base64, small enough to be stored in the job. */
  firstFrame: nullableText,
})
type VideoRecipe = Static<typeof VideoRecipe>

interface VideoParts {
  readonly recentOutputs: RecentOutputs
  readonly renderer: Renderer
}

/** Creates playable MP4s of the requested duration and ratio, with the prompt written over a landscape or the given image. */
export function createVideo(
  parts: SandboxParts,
  { recentOutputs, renderer }: VideoParts,
): MediaOperation<VideoWork<InputFile>> {
  return answerByJob<VideoWork<InputFile>, typeof VideoRecipe>(parts, {
    recipe: VideoRecipe,
    writeRecipe: (call) => {
      const { image } = call.work
      const files = image === null ? [] : [{ file: image, parameter: 'image' }]
      const { signal } = call.cancellation
      return usePictures(files, { madePixels: () => 0, signal }, () => writeRecipe(call))
    },
    readPrompt: ({ prompt }) => prompt,
    make: (recipe, prompt, signal) =>
      recentOutputs.remember(JSON.stringify(['video', recipe, prompt]), async () => {
        const { durationSeconds } = recipe
        const shape = chooseVideoShape(recipe, durationSeconds)
        const seedText = JSON.stringify([recipe.model, prompt, recipe.seed])
        const bytes = await renderer.render(
          {
            kind: 'video',
            ...shape,
            frameCount: Math.max(1, Math.round(shape.frameRate * durationSeconds)),
            backdrop: await paintFirstFrame(recipe, { shape, prompt, seedText }),
            caption: await paintWords(recipe, shape, prompt),
            phase: createRandomFromText(seedText).below(1000) / 1000,
          },
          signal,
        )
        return { files: [{ kind: 'bytes', bytes, contentType: 'video/mp4' }], seconds: durationSeconds }
      }),
  })
}

async function writeRecipe({ work, upstreamModel }: MediaCall<VideoWork<InputFile>>): Promise<VideoRecipe> {
  const durationSeconds = Math.min(SECONDS_MAX, Math.max(1, work.durationSeconds))
  const { aspectRatio, resolution } = work
  const picture = work.image === null ? null : await openPicture(work.image, 'image')
  // Use the ratio of the image, unless the client requested another one.
  const ratio = aspectRatio ?? (picture && resolution === null ? `${picture.width}:${picture.height}` : null)
  const { width, height } = chooseVideoShape({ aspectRatio: ratio, resolution }, durationSeconds)
  const firstFrame = await picture
    ?.read()
    .flatten({ background: '#000' })
    .resize(width, height, { fit: 'cover' })
    .webp({ quality: FIRST_FRAME_QUALITY })
    .toBuffer()
  return {
    model: upstreamModel,
    prompt: work.prompt,
    durationSeconds,
    aspectRatio: ratio,
    resolution,
    seed: work.seed,
    firstFrame: firstFrame?.toString('base64') ?? null,
  }
}

interface Backdrop {
  readonly shape: VideoShape
  readonly prompt: string
  readonly seedText: string
}

async function paintFirstFrame(recipe: VideoRecipe, { shape, prompt, seedText }: Backdrop): Promise<Buffer> {
  const sharp = await loadSharp()
  const source =
    recipe.firstFrame === null
      ? Buffer.from(paintBackdrop({ ...shape, prompt, seedText }))
      : Buffer.from(recipe.firstFrame, 'base64')
  return sharp(source)
    .resize(shape.width, shape.height, { fit: 'fill' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer()
}

async function paintWords(recipe: VideoRecipe, shape: VideoShape, prompt: string): Promise<Buffer> {
  const sharp = await loadSharp()
  const footer = `Parkway sandbox • ${recipe.model} • ${recipe.durationSeconds} s`
  return sharp(Buffer.from(paintCaption({ ...shape, prompt, footer })))
    .ensureAlpha()
    .raw()
    .toBuffer()
}
