import type { InputFile } from '../../media-operation.ts'
import type { BackgroundRemovalWork, ImageWork, UpscaleWork, VideoWork } from '../../media-work.ts'
import { toDataUri } from './data-uri.ts'
import { falImagesMax, toFalImageRequest, toFalVideoRequest, type FalRequest } from './fal-models.ts'
import { readFalOutput } from './fal-output.ts'
import { cancelFalJob, checkFalJob, submitToFal } from './fal-queue.ts'
import type { MediaVendor } from './media-operation-over-wire.ts'
import { splitImages } from './split-images.ts'

/**
 * Spoken to by hand over its queue: fal's package waits for images in one request, which a restart would lose and pay twice, and
 * hides the status of a failed job.
 */
export const falImages = vendor<ImageWork<InputFile>>(toFalImageRequest, (work, model) =>
  splitImages(work, falImagesMax(model)),
)

export const falVideos = vendor<VideoWork<InputFile>>(toFalVideoRequest)

export const falUpscales = vendor<UpscaleWork<InputFile>>((endpoint, { image, scale, prompt }) => ({
  endpoint,
  input: { image_url: toDataUri(image), upscale_factor: scale, ...(prompt === null ? {} : { prompt }) },
}))

export const falBackgroundRemovals = vendor<BackgroundRemovalWork<InputFile>>(
  (endpoint, { image, outputFormat }) => ({
    endpoint,
    input: { image_url: toDataUri(image), output_format: outputFormat },
  }),
)

function vendor<Work>(
  toRequest: (model: string, work: Work) => FalRequest,
  split?: (work: Work, model: string) => readonly Work[],
): MediaVendor<Work> {
  return {
    provider: 'fal',
    defaultBaseUrl: 'https://queue.fal.run',
    wire: {
      ...(split === undefined ? {} : { split }),
      async submit({ work, upstreamModel }, session) {
        const { endpoint, input } = toRequest(upstreamModel, work)
        return submitToFal(session, endpoint, input)
      },
      check: (call, session) =>
        checkFalJob(call, session, (result) => readFalOutput(session.provider, result)),
      cancel: cancelFalJob,
    },
  }
}
