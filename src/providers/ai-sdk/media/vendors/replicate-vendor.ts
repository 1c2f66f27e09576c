import type { InputFile, JobCall, MediaProgress, MediaStart } from '../../../media/media-operation.ts'
import type { ImageWork, VideoWork } from '../../../media/media-work.ts'
import { readPath, readString } from '../../exchange/read-json.ts'
import { bearer, cancelByRequest } from '../cancel-by-request.ts'
import { captureSubmission } from '../capture-submission.ts'
import { toImageOptions } from '../image-model-wire.ts'
import { invalidAnswer, jobFailed } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { requestJson } from '../request-json.ts'
import { splitImages } from '../split-images.ts'
import { toVideoOptions } from '../video-model-wire.ts'

const base = { provider: 'replicate', defaultBaseUrl: 'https://api.replicate.com/v1' }
const RATIOS = ['1:1', '16:9', '21:9', '3:2', '2:3', '4:5', '5:4', '3:4', '4:3', '9:16', '9:21']
const IMAGE_POLL_AFTER_MS = 1_000
const VIDEO_POLL_AFTER_MS = 5_000

export const replicateImages: MediaVendor<ImageWork<InputFile>> = {
  ...base,
  wire: {
    split: (work) => splitImages(work, 1),
    async submit(call, session) {
      const { createReplicate } = await import('@ai-sdk/replicate')
      const vendor = {
        aspectRatios: RATIOS,
        toProviderOptions: ({ outputFormat }: ImageWork<InputFile>) => ({
          replicate: {
            maxWaitTimeInSeconds: 1,
            ...(outputFormat === null
              ? {}
              : { output_format: outputFormat === 'jpeg' ? 'jpg' : outputFormat }),
          },
        }),
      }
      const answer = await captureSubmission(session, (captured) =>
        createReplicate(toReplicateSettings(captured))
          .imageModel(call.upstreamModel)
          .doGenerate(toImageOptions(vendor, call, session)),
      )
      return readStart(session, answer, IMAGE_POLL_AFTER_MS)
    },
    check: (call, session) => checkPrediction(call, session, IMAGE_POLL_AFTER_MS),
    cancel: cancelPrediction,
  },
}

export const replicateVideos: MediaVendor<VideoWork<InputFile>> = {
  ...base,
  wire: {
    async submit({ work, upstreamModel }, session) {
      const { createReplicate } = await import('@ai-sdk/replicate')
      const { negativePrompt, resolution } = work
      const answer = await captureSubmission(session, async (captured) =>
        createReplicate(toReplicateSettings(captured))
          .videoModel(upstreamModel)
          .doStart?.({
            ...toVideoOptions(work, session),
            providerOptions: {
              replicate: {
                ...(negativePrompt === null ? {} : { negative_prompt: negativePrompt }),
                ...(resolution === null ? {} : { resolution }),
              },
            },
          }),
      )
      return readStart(session, answer, VIDEO_POLL_AFTER_MS)
    },
    check: (call, session) => checkPrediction(call, session, VIDEO_POLL_AFTER_MS),
    cancel: cancelPrediction,
  },
}

function toReplicateSettings(session: WireSession) {
  const { apiKey, ...settings } = toPackageSettings(session)
  return { ...settings, apiToken: apiKey }
}

function readStart({ provider }: WireSession, answer: unknown, pollAfterMs: number): MediaStart {
  const id = readString(answer, 'id')
  if (id === undefined) throw invalidAnswer(provider, 'the id of a prediction')
  return { kind: 'started', job: { id }, pollAfterMs }
}

async function checkPrediction(
  { job }: JobCall,
  session: WireSession,
  pollAfterMs: number,
): Promise<MediaProgress> {
  const answer = await requestJson(session, { url: addressOf(session, job.id), headers: bearer(session) })
  const state = readString(answer, 'status')
  if (state === 'starting' || state === 'processing') return { kind: 'running', progress: null, pollAfterMs }
  if (state !== 'succeeded') {
    throw jobFailed(session.provider, { message: readString(answer, 'error') ?? state })
  }
  const output = readPath(answer, 'output')
  const urls = (Array.isArray(output) ? output : [output]).filter((url) => typeof url === 'string')
  if (urls.length === 0) throw invalidAnswer(session.provider, 'an output')
  return { kind: 'done', output: { files: urls.map((url) => ({ kind: 'url', url })) } }
}

function cancelPrediction({ job }: JobCall, session: WireSession): Promise<void> {
  const url = `${addressOf(session, job.id)}/cancel`
  return cancelByRequest(session, { url, method: 'POST', headers: bearer(session) })
}

function addressOf({ baseUrl }: WireSession, id: string): string {
  return `${baseUrl}/predictions/${encodeURIComponent(id)}`
}
