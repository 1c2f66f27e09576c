import type { InputFile } from '../../../media/media-operation.ts'
import type { ImageWork } from '../../../media/media-work.ts'
import { readString } from '../../exchange/read-json.ts'
import { bearer } from '../cancel-by-request.ts'
import { captureSubmission } from '../capture-submission.ts'
import { createImageModelWire, toImageOptions } from '../image-model-wire.ts'
import { invalidAnswer } from '../job-failure.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { requestJson } from '../request-json.ts'
import { readSampleJob } from '../sample-job.ts'

const POLL_AFTER_MS = 1_000
const RATIOS = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']

const vendor = {
  imagesMax: 1,
  aspectRatios: RATIOS,
  async createModel(session: WireSession, modelId: string) {
    const { createFireworks } = await import('@ai-sdk/fireworks')
    return createFireworks(toPackageSettings(session)).imageModel(modelId)
  },
  toProviderOptions: ({ outputFormat }: ImageWork<InputFile>) => ({
    fireworks: outputFormat === 'png' || outputFormat === 'jpeg' ? { output_format: outputFormat } : {},
  }),
}
const direct = createImageModelWire(vendor)

/** Most models return the image. The Kontext models start a job. */
export const fireworksImages: MediaVendor<ImageWork<InputFile>> = {
  provider: 'fireworks',
  defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
  wire: {
    ...direct,
    async submit(call, session) {
      if (!call.upstreamModel.includes('/flux-kontext')) return direct.submit(call, session)
      const answer = await captureSubmission(session, async (captured) => {
        const model = await vendor.createModel(captured, call.upstreamModel)
        return model.doGenerate(toImageOptions(vendor, call, session))
      })
      const id = readString(answer, 'request_id')
      if (id === undefined) throw invalidAnswer(session.provider, 'a request id')
      return { kind: 'started', job: { id }, pollAfterMs: POLL_AFTER_MS }
    },
    async check({ job, upstreamModel }, session) {
      const answer = await requestJson(session, {
        url: `${session.baseUrl}/workflows/${upstreamModel}/get_result`,
        method: 'POST',
        headers: bearer(session),
        body: { id: job.id },
      })
      return readSampleJob(session.provider, answer)
    },
  },
}
