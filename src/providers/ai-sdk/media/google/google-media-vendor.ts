import type { InputFile } from '../../../media/media-operation.ts'
import type { ImageWork, VideoWork } from '../../../media/media-work.ts'
import { readPath, readString } from '../../exchange/read-json.ts'
import {
  chooseAspectRatio,
  chooseDuration,
  chooseResolution,
  readShape,
} from '../../../streams/frame-shape.ts'
import { imagenWire } from './google-imagen-wire.ts'
import { omniWire } from './google-omni-wire.ts'
import { createImageModelWire } from '../image-model-wire.ts'
import type { MediaVendor } from '../media-operation-over-wire.ts'
import { toGoogleFile } from './google-file.ts'
import { toPackageSettings } from '../package-settings.ts'
import { createVideoModelWire } from '../video-model-wire.ts'

const base = { provider: 'google', defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta' }
const IMAGE_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

const geminiWire = createImageModelWire({
  imagesMax: 1,
  aspectRatios: IMAGE_RATIOS,
  async createModel(session, modelId) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle(toPackageSettings(session)).imageModel(modelId)
  },
  readRefusal: (metadata) =>
    readString(metadata, 'google', 'promptFeedback', 'blockReason') ??
    readString(metadata, 'google', 'finishMessage') ??
    readString(metadata, 'google', 'finishReason'),
  toProviderOptions({ size }) {
    const shape = readShape(size)
    const longest = shape === null ? 0 : Math.max(shape.width, shape.height)
    if (longest < 2048) return {}
    return { google: { imageConfig: { imageSize: longest < 4096 ? '2K' : '4K' } } }
  },
})

/** Gemini through its package, Imagen through predictions. */
export const googleImages: MediaVendor<ImageWork<InputFile>> = {
  ...base,
  wire: {
    split: (work, model) => imageWireOf(model).split?.(work, model) ?? [work],
    submit: (call, session) => imageWireOf(call.upstreamModel).submit(call, session),
  },
}

function imageWireOf(model: string) {
  return model.startsWith('imagen') ? imagenWire : geminiWire
}

const veoWire = createVideoModelWire({
  pollAfterMs: 10_000,
  async createModel(session, modelId) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle(toPackageSettings(session)).videoModel(modelId)
  },
  toOptions(work) {
    const resolution = chooseResolution(work.resolution, ['720p', '1080p', '4k'])
    const ratio = chooseAspectRatio({ aspectRatio: work.aspectRatio, size: work.resolution }, [
      '16:9',
      '9:16',
    ])
    return {
      duration: chooseDuration(work.durationSeconds, [4, 6, 8]),
      aspectRatio: ratio === null ? undefined : ratio === '9:16' ? '9:16' : '16:9',
      providerOptions: {
        google: {
          ...(resolution === null ? {} : { resolution }),
          ...(work.negativePrompt === null ? {} : { negativePrompt: work.negativePrompt }),
        },
      },
    }
  },
  readStatus(answer) {
    const failure = readFailure(answer)
    return failure === null ? {} : { failure }
  },
  toFile: toGoogleFile,
})

/** Veo through long-running operations, Omni through interactions. */
export const googleVideos: MediaVendor<VideoWork<InputFile>> = {
  ...base,
  wire: {
    submit: (call, session) => videoWireOf(call.upstreamModel).submit(call, session),
    async check(call, session) {
      const progress = await videoWireOf(call.upstreamModel).check?.(call, session)
      return progress ?? { kind: 'running', progress: null }
    },
    cancel: async (call, session) => videoWireOf(call.upstreamModel).cancel?.(call, session),
  },
}

function videoWireOf(model: string) {
  return model.startsWith('veo') ? veoWire : omniWire
}

// If the filter blocks a video, the operation succeeds without one.
function readFailure(answer: unknown) {
  const message = readString(answer, 'error', 'message')
  if (message !== undefined) return { message, code: readString(answer, 'error', 'status') }
  const reasons = readPath(answer, 'response', 'generateVideoResponse', 'raiMediaFilteredReasons')
  if (!Array.isArray(reasons) || reasons.length === 0) return null
  return { message: reasons.join(' '), code: 'content_policy_violation' }
}
