import type { InputFile, MediaCall, MediaStart } from '../../../media/media-operation.ts'
import type { BackgroundRemovalWork, ImageWork, UpscaleWork, VideoWork } from '../../../media/media-work.ts'
import { toDataUri } from '../data-uri.ts'
import { falImagesMax, toFalImageRequest, toFalVideoRequest } from './fal-models.ts'
import { readFalOutput } from './fal-output.ts'
import { cancelFalJob, checkFalJob, submitPackageToFal, submitToFal } from './fal-queue.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import type { WireSession } from '../media-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { splitImages } from '../split-images.ts'

/**
 * The package waits for an image in one request. A restart would lose that request and pay twice, so the package only writes it
 * and it is submitted to the queue.
 */
export const falImages = vendor<ImageWork<InputFile>>(
  async ({ work, upstreamModel }, session) => {
    const { createFal } = await import('@ai-sdk/fal')
    const { endpoint, options } = toFalImageRequest(upstreamModel, work, session)
    return submitPackageToFal(session, endpoint, (captured) =>
      createFal(toPackageSettings(captured)).imageModel(endpoint).doGenerate(options),
    )
  },
  (work, model) => splitImages(work, falImagesMax(model)),
)

/**
 * The package treats a throttled poll as a failed job, and hides the reason of a failure, so it is used only to start the job.
 */
export const falVideos = vendor<VideoWork<InputFile>>(async ({ work, upstreamModel }, session) => {
  const { createFal } = await import('@ai-sdk/fal')
  const { endpoint, options } = toFalVideoRequest(upstreamModel, work, session)
  return submitPackageToFal(session, endpoint, async (captured) =>
    createFal(toPackageSettings(captured)).videoModel(endpoint).doStart?.(options),
  )
})

/** Calls the API directly, because the package has no upscaling models. */
export const falUpscales = vendor<UpscaleWork<InputFile>>(({ work, upstreamModel }, session) =>
  submitToFal(session, upstreamModel, {
    image_url: toDataUri(work.image),
    upscale_factor: work.scale,
    ...(work.prompt === null ? {} : { prompt: work.prompt }),
  }),
)

/** Calls the API directly, because the package has no models for background removal. */
export const falBackgroundRemovals = vendor<BackgroundRemovalWork<InputFile>>(
  ({ work: { image, outputFormat }, upstreamModel }, session) =>
    submitToFal(session, upstreamModel, { image_url: toDataUri(image), output_format: outputFormat }),
)

function vendor<Work>(
  submit: (call: MediaCall<Work>, session: WireSession) => Promise<MediaStart>,
  split?: (work: Work, model: string) => readonly Work[],
): MediaVendor<Work> {
  return {
    provider: 'fal',
    defaultBaseUrl: 'https://queue.fal.run',
    wire: {
      ...(split === undefined ? {} : { split }),
      submit,
      check: (call, session) =>
        checkFalJob(call, session, (result) => readFalOutput(session.provider, result)),
      cancel: cancelFalJob,
    },
  }
}
