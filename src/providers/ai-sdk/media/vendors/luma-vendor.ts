import type { InputFile, JobCall, MediaProgress, MediaStart } from '../../../media/media-operation.ts'
import type { ImageWork, VideoWork } from '../../../media/media-work.ts'
import { readString } from '../../exchange/read-json.ts'
import { UntranslatableRequest } from '../../request/untranslatable-request.ts'
import { bearer, cancelByRequest } from '../cancel-by-request.ts'
import { captureSubmission } from '../capture-submission.ts'
import { chooseAspectRatio, chooseDuration, chooseResolution } from '../../../streams/frame-shape.ts'
import { toImageOptions } from '../image-model-wire.ts'
import { invalidAnswer, jobFailed } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { requestJson } from '../request-json.ts'
import { splitImages } from '../split-images.ts'

const base = { provider: 'luma', defaultBaseUrl: 'https://api.lumalabs.ai' }
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9']
const IMAGE_POLL_AFTER_MS = 1_000
const VIDEO_POLL_AFTER_MS = 5_000

export const lumaImages: MediaVendor<ImageWork<InputFile>> = {
  ...base,
  wire: {
    split: (work) => splitImages(work, 1),
    async submit(call, session) {
      const { createLuma } = await import('@ai-sdk/luma')
      const answer = await captureSubmission(session, (captured) =>
        createLuma(toPackageSettings(captured))
          .imageModel(call.upstreamModel)
          .doGenerate(toImageOptions({ aspectRatios: RATIOS }, call, session)),
      )
      return readStart(session, answer, IMAGE_POLL_AFTER_MS)
    },
    check: (call, session) => checkGeneration(call, session, IMAGE_POLL_AFTER_MS),
    cancel: deleteGeneration,
  },
}

/** Calls the API directly, because the package supports only images. */
export const lumaVideos: MediaVendor<VideoWork<InputFile>> = {
  ...base,
  wire: {
    async submit({ work, upstreamModel }, session) {
      if (work.image !== null) {
        throw new UntranslatableRequest('image_url', 'Luma takes images by their address only.')
      }
      const ratio = chooseAspectRatio({ aspectRatio: work.aspectRatio, size: work.resolution }, RATIOS)
      const resolution = chooseResolution(work.resolution, ['540p', '720p', '1080p', '4k'])
      const answer = await requestJson(session, {
        url: generationsOf(session),
        method: 'POST',
        headers: bearer(session),
        body: {
          model: upstreamModel,
          prompt: work.prompt,
          duration: `${chooseDuration(work.durationSeconds, [5, 9])}s`,
          ...(ratio === null ? {} : { aspect_ratio: ratio }),
          ...(resolution === null ? {} : { resolution }),
        },
      })
      return readStart(session, answer, VIDEO_POLL_AFTER_MS)
    },
    check: (call, session) => checkGeneration(call, session, VIDEO_POLL_AFTER_MS),
    cancel: deleteGeneration,
  },
}

function readStart({ provider }: WireSession, answer: unknown, pollAfterMs: number): MediaStart {
  const id = readString(answer, 'id')
  if (id === undefined) throw invalidAnswer(provider, 'the id of a generation')
  return { kind: 'started', job: { id }, pollAfterMs }
}

async function checkGeneration(
  { job }: JobCall,
  session: WireSession,
  pollAfterMs: number,
): Promise<MediaProgress> {
  const answer = await requestJson(session, {
    url: `${generationsOf(session)}/${job.id}`,
    headers: bearer(session),
  })
  const state = readString(answer, 'state')
  if (state === 'failed') throw jobFailed(session.provider, { message: readString(answer, 'failure_reason') })
  if (state !== 'completed') return { kind: 'running', progress: null, pollAfterMs }
  const url = readString(answer, 'assets', 'video') ?? readString(answer, 'assets', 'image')
  if (url === undefined) throw invalidAnswer(session.provider, 'an asset')
  return { kind: 'done', output: { files: [{ kind: 'url', url }] } }
}

function deleteGeneration({ job }: JobCall, session: WireSession): Promise<void> {
  const url = `${generationsOf(session)}/${job.id}`
  return cancelByRequest(session, { url, method: 'DELETE', headers: bearer(session) })
}

function generationsOf({ baseUrl }: WireSession): string {
  return `${baseUrl}/dream-machine/v1/generations`
}
