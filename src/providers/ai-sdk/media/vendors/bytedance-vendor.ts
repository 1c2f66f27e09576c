import type { InputFile } from '../../../media/media-operation.ts'
import type { VideoWork } from '../../../media/media-work.ts'
import { readNumber, readString } from '../../exchange/read-json.ts'
import { bearer, cancelByRequest } from '../cancel-by-request.ts'
import { captureSubmission } from '../capture-submission.ts'
import { chooseResolution } from '../../../streams/frame-shape.ts'
import { createImageModelWire } from '../image-model-wire.ts'
import { invalidAnswer, jobFailed, jobLost } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { requestJson } from '../request-json.ts'
import { toVideoOptions } from '../video-model-wire.ts'

const base = { provider: 'bytedance', defaultBaseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3' }
const POLL_AFTER_MS = 5_000

export const bytedanceImages = {
  ...base,
  wire: createImageModelWire({
    imagesMax: 1,
    async createModel(session, modelId) {
      const { createByteDance } = await import('@ai-sdk/bytedance')
      return createByteDance(toPackageSettings(session)).imageModel(modelId)
    },
    toProviderOptions: () => ({ bytedance: { watermark: false } }),
  }),
}

/** Seedance. The package waits for the video, so it is used only to submit. */
export const bytedanceVideos: MediaVendor<VideoWork<InputFile>> = {
  ...base,
  wire: {
    async submit({ work, upstreamModel }, session) {
      const { createByteDance } = await import('@ai-sdk/bytedance')
      const resolution = chooseResolution(work.resolution, ['480p', '720p', '1080p'])
      const answer = await captureSubmission(session, (captured) =>
        createByteDance(toPackageSettings(captured))
          .videoModel(upstreamModel)
          .doGenerate({
            ...toVideoOptions(work, session),
            providerOptions: {
              bytedance: {
                watermark: false,
                ...(resolution === null ? {} : { resolution }),
                ...(work.withAudio === null ? {} : { generateAudio: work.withAudio }),
              },
            },
          }),
      )
      const id = readString(answer, 'id')
      if (id === undefined) throw invalidAnswer(session.provider, 'the id of a task')
      return { kind: 'started', job: { id }, pollAfterMs: POLL_AFTER_MS }
    },
    async check({ job }, session) {
      const answer = await requestJson(session, { url: addressOf(session, job.id), headers: bearer(session) })
      const state = readString(answer, 'status')
      if (state === 'expired') throw jobLost(session.provider)
      if (state === 'failed' || state === 'cancelled') {
        throw jobFailed(session.provider, {
          message: readString(answer, 'error', 'message') ?? state,
          code: readString(answer, 'error', 'code'),
        })
      }
      if (state !== 'succeeded') return { kind: 'running', progress: null, pollAfterMs: POLL_AFTER_MS }
      const url = readString(answer, 'content', 'video_url')
      if (url === undefined) throw invalidAnswer(session.provider, 'a video')
      const seconds = readNumber(answer, 'duration')
      return {
        kind: 'done',
        output: { files: [{ kind: 'url', url }], ...(seconds === undefined ? {} : { seconds }) },
      }
    },
    cancel: ({ job }, session) =>
      cancelByRequest(session, {
        url: addressOf(session, job.id),
        method: 'DELETE',
        headers: bearer(session),
      }),
  },
}

function addressOf({ baseUrl }: WireSession, id: string): string {
  return `${baseUrl}/contents/generations/tasks/${encodeURIComponent(id)}`
}
