import { Type } from 'typebox'
import type { MediaOperation } from '../../../media/media-operation.ts'
import type { MusicWork } from '../../../media/media-work.ts'
import { answerByJob } from '../answer-by-job.ts'
import type { SandboxParts } from '../begin-call.ts'
import type { RecentOutputs } from '../recent-outputs.ts'
import type { Renderer } from '../renderer.ts'

const SECONDS_MAX = 600

const MusicRecipe = Type.Object({
  model: Type.String(),
  prompt: Type.String(),
  lyrics: Type.Union([Type.String(), Type.Null()]),
  isInstrumental: Type.Boolean(),
  durationSeconds: Type.Number({ minimum: 0.5, maximum: SECONDS_MAX }),
  format: Type.Enum(['mp3', 'wav']),
})

interface MusicParts {
  readonly recentOutputs: RecentOutputs
  readonly renderer: Renderer
}

/** Creates chords, a bass and a tune of the requested duration. */
export function createMusic(
  parts: SandboxParts,
  { recentOutputs, renderer }: MusicParts,
): MediaOperation<MusicWork> {
  return answerByJob<MusicWork, typeof MusicRecipe>(parts, {
    recipe: MusicRecipe,
    writeRecipe: ({ work, upstreamModel }) => ({
      model: upstreamModel,
      prompt: work.prompt,
      lyrics: work.lyrics,
      isInstrumental: work.isInstrumental,
      durationSeconds: Math.min(SECONDS_MAX, Math.max(0.5, work.durationSeconds)),
      format: work.outputFormat,
    }),
    readPrompt: ({ prompt }) => prompt,
    make: (recipe, prompt, signal) => {
      const { durationSeconds, format, lyrics, model } = recipe
      const seedText = JSON.stringify([model, prompt, lyrics])
      const isSung = !recipe.isInstrumental && lyrics !== null
      return recentOutputs.remember(JSON.stringify(['music', recipe, prompt]), async () => {
        const bytes = await renderer.render(
          { kind: 'music', prompt, seedText, isSung, durationSeconds, format },
          signal,
        )
        const contentType = format === 'wav' ? 'audio/wav' : 'audio/mpeg'
        return { files: [{ kind: 'bytes', bytes, contentType }], seconds: durationSeconds }
      })
    },
  })
}
