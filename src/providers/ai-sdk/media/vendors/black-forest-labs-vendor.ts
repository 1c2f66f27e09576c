import type { InputFile, JobCall } from '../../../media/media-operation.ts'
import type { ImageWork } from '../../../media/media-work.ts'
import { UpstreamError } from '../../../failures/upstream-error.ts'
import { readNumber, readString } from '../../exchange/read-json.ts'
import { captureSubmission } from '../capture-submission.ts'
import { chooseAspectRatio, chooseDuration, readLines } from '../../../streams/frame-shape.ts'
import { toImageOptions } from '../image-model-wire.ts'
import { invalidAnswer, jobLost } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toAspectRatio } from '../model-options.ts'
import { toPackageSettings } from '../package-settings.ts'
import { requestJson } from '../request-json.ts'
import { readSampleJob } from '../sample-job.ts'
import { splitImages } from '../split-images.ts'
import { createVideoModelWire } from '../video-model-wire.ts'

const base = { provider: 'black-forest-labs', defaultBaseUrl: 'https://api.bfl.ai/v1' }
const POLL_AFTER_MS = 1_000
const VIDEO_RATIOS = ['21:9', '2:1', '16:9', '4:3', '1:1', '3:4', '9:16']
const VIDEO_DURATIONS = Array.from({ length: 16 }, (_, index) => 5 + index)
const RATIOS = ['21:9', '16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '9:21']

/** FLUX from its maker. A job is polled at the URL that its submission returned, because each region has its own. */
export const blackForestLabsImages: MediaVendor<ImageWork<InputFile>> = {
  ...base,
  wire: {
    split: (work) => splitImages(work, 1),
    async submit(call, session) {
      const { createBlackForestLabs } = await import('@ai-sdk/black-forest-labs')
      const answer = await captureSubmission(session, (captured) =>
        createBlackForestLabs(toPackageSettings(captured))
          .imageModel(call.upstreamModel)
          .doGenerate(toImageOptions(shapeOf(call.upstreamModel), call, session)),
      )
      const id = readString(answer, 'id')
      if (id === undefined) throw invalidAnswer(session.provider, 'the id of a job')
      const pollingUrl = readString(answer, 'polling_url')
      const data = pollingUrl === undefined ? {} : { pollingUrl }
      return { kind: 'started', job: { id, data }, pollAfterMs: POLL_AFTER_MS }
    },
    async check(call, session) {
      const answer = await requestJson(session, {
        url: addressOf(call, session),
        headers: { 'x-key': session.apiKey },
        describeError: (_, status) => (status === 404 ? jobLost(session.provider) : null),
      })
      return readSampleJob(session.provider, answer)
    },
  },
}

/** FLUX videos, started and polled through the package. */
export const blackForestLabsVideos = {
  ...base,
  wire: createVideoModelWire({
    pollAfterMs: 5_000,
    async createModel(session, modelId) {
      const { createBlackForestLabs } = await import('@ai-sdk/black-forest-labs')
      return createBlackForestLabs(toPackageSettings(session)).videoModel(modelId)
    },
    toOptions(work) {
      const lines = readLines(work.resolution)
      const shape = { aspectRatio: work.aspectRatio, size: work.resolution }
      return {
        duration: chooseDuration(work.durationSeconds, VIDEO_DURATIONS),
        aspectRatio: toAspectRatio(chooseAspectRatio(shape, VIDEO_RATIOS)),
        seed: undefined,
        providerOptions: {
          blackForestLabs: lines === null ? {} : { resolution: lines > 720 ? 'fhd' : 'hd' },
        },
      }
    },
    readStatus(answer) {
      const state = readString(answer, 'status') ?? readString(answer, 'state') ?? ''
      return {
        progress: readNumber(answer, 'progress'),
        seconds: readNumber(answer, 'result', 'duration'),
        isLost: state === 'Task not found',
        ...(/moderated/i.test(state) ? { failure: { message: state, code: state } } : {}),
      }
    },
  }),
}

// The editing models and the large models accept a ratio, the others a size.
function shapeOf(model: string) {
  return { toProviderOptions, ...(/kontext|ultra/.test(model) ? { aspectRatios: RATIOS } : {}) }
}

function toProviderOptions({ outputFormat }: ImageWork<InputFile>) {
  return {
    blackForestLabs: outputFormat === 'png' || outputFormat === 'jpeg' ? { outputFormat } : {},
  }
}

// The key is sent only to the configured address and to regions of the same vendor.
function addressOf({ job }: JobCall, { provider, baseUrl }: WireSession): string {
  const stored = readString(job.data, 'pollingUrl')
  if (stored === undefined || !URL.canParse(stored)) {
    return `${baseUrl}/get_result?id=${encodeURIComponent(job.id)}`
  }
  const [own, other] = [new URL(baseUrl), new URL(stored)]
  const isRegion = other.protocol === 'https:' && /(^|\.)bfl\.(ai|ml)$/.test(other.hostname)
  if (own.origin !== other.origin && !isRegion) {
    throw new UpstreamError(`${provider} sends elsewhere`, { failure: 'invalid_answer', provider })
  }
  if (!other.searchParams.has('id')) other.searchParams.set('id', job.id)
  return other.href
}
