import { createHash } from 'node:crypto'
import { Type, type Static } from 'typebox'
import type { InputFile, MediaOperation, MediaOutput } from '../../../media/media-operation.ts'
import type { ImageWork } from '../../../media/media-work.ts'
import { parseDirectives } from '../../request/directives.ts'
import { answerAtOnce } from '../answer-at-once.ts'
import { answerByJob } from '../answer-by-job.ts'
import type { SandboxParts } from '../begin-call.ts'
import { editImage } from './edit-image.ts'
import { encodePicture } from './encode-picture.ts'
import { loadSharp } from './load-sharp.ts'
import { paintScene } from './paint-scene.ts'
import { sharedPixelRoom } from './pixel-room.ts'
import { choosePictureSize } from './picture-size.ts'
import type { RecentOutputs } from '../recent-outputs.ts'

const COUNT_MAX = 16
/** Outputs are cached for other requests, so a cancelled request does not abort them. */
const NEVER = new AbortController().signal

const nullableText = Type.Union([Type.String(), Type.Null()])
const ImageRecipe = Type.Object({
  model: Type.String(),
  prompt: Type.String(),
  count: Type.Integer({ minimum: 1, maximum: COUNT_MAX }),
  size: nullableText,
  aspectRatio: nullableText,
  isTransparent: Type.Boolean(),
  format: Type.Enum(['png', 'jpeg', 'webp']),
  seed: Type.Union([Type.Number(), Type.Null()]),
})
type ImageRecipe = Static<typeof ImageRecipe>

/** Creates images of the requested size with the prompt drawn in them, and visible edits. */
export function createImage(
  parts: SandboxParts,
  recentOutputs: RecentOutputs,
): MediaOperation<ImageWork<InputFile>> {
  const make = (recipe: ImageRecipe, prompt: string): Promise<MediaOutput> => {
    const key = createHash('sha256')
      .update(JSON.stringify(['image', recipe, prompt]))
      .digest('hex')
    return recentOutputs.remember(key, () => {
      const { width, height } = choosePictureSize(recipe.size, recipe.aspectRatio)
      return sharedPixelRoom.use(width * height, NEVER, () => paintImages(recipe, prompt))
    })
  }
  const byJob = answerByJob<ImageWork<InputFile>, typeof ImageRecipe>(parts, {
    recipe: ImageRecipe,
    writeRecipe: ({ work, upstreamModel }) => writeRecipe(work, upstreamModel),
    readPrompt: ({ prompt }) => prompt,
    make,
  })
  const atOnce = answerAtOnce<ImageWork<InputFile>>(parts, {
    readPrompt: ({ prompt }) => prompt,
    make: (work, prompt, { upstreamModel, cancellation }) =>
      work.images.length > 0
        ? editImage({ work, prompt, upstreamModel, signal: cancellation.signal })
        : make(writeRecipe({ ...work, prompt }, upstreamModel), prompt),
  })
  return {
    ...byJob,
    // A job has only a few hundred bytes of data, which is too little for the images of an edit.
    start: (call) => {
      const { directives } = parseDirectives(call.work.prompt)
      const isJob = directives.jobDurationMs !== null || directives.jobFault !== null
      return isJob && call.work.images.length === 0 ? byJob.start(call) : atOnce(call)
    },
  }
}

function writeRecipe(work: ImageWork<InputFile>, upstreamModel: string): ImageRecipe {
  return {
    model: upstreamModel,
    prompt: work.prompt,
    count: Math.min(COUNT_MAX, Math.max(1, work.count)),
    size: work.size,
    aspectRatio: work.aspectRatio,
    isTransparent: work.background === 'transparent' && work.outputFormat !== 'jpeg',
    format: work.outputFormat ?? 'png',
    seed: work.seed,
  }
}

async function paintImages(recipe: ImageRecipe, prompt: string): Promise<MediaOutput> {
  const sharp = await loadSharp()
  const size = choosePictureSize(recipe.size, recipe.aspectRatio)
  const files = []
  for (let index = 0; index < recipe.count; index += 1) {
    const seedName = recipe.seed === null ? '' : ` • seed ${recipe.seed}`
    const numberName = recipe.count === 1 ? '' : ` • ${index + 1} of ${recipe.count}`
    const scene = paintScene({
      ...size,
      prompt,
      seedText: JSON.stringify([recipe.model, prompt, recipe.seed, index]),
      footer: `Parkway sandbox • ${recipe.model} • ${size.width}×${size.height}${seedName}${numberName}`,
      isTransparent: recipe.isTransparent,
    })
    files.push(await encodePicture(sharp(Buffer.from(scene)), recipe.format))
  }
  return { files }
}
