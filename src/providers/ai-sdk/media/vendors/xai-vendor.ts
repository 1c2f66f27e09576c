import { readNumber, readString } from '../../exchange/read-json.ts'
import { chooseResolution } from '../../../streams/frame-shape.ts'
import { createImageModelWire } from '../image-model-wire.ts'
import { toPackageSettings } from '../package-settings.ts'
import { createVideoModelWire } from '../video-model-wire.ts'

const base = { provider: 'xai', defaultBaseUrl: 'https://api.x.ai/v1' }
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:19', '19:9', '1:2', '2:1']
const QUALITIES = new Set(['low', 'medium', 'high'])

export const xaiImages = {
  ...base,
  wire: createImageModelWire({
    imagesMax: 3,
    aspectRatios: RATIOS,
    async createModel(session, modelId) {
      const { createXai } = await import('@ai-sdk/xai')
      return createXai(toPackageSettings(session)).imageModel(modelId)
    },
    toProviderOptions: ({ quality }) =>
      quality !== null && QUALITIES.has(quality) ? { xai: { quality } } : {},
  }),
}

export const xaiVideos = {
  ...base,
  wire: createVideoModelWire({
    pollAfterMs: 5_000,
    async createModel(session, modelId) {
      const { createXai } = await import('@ai-sdk/xai')
      return createXai(toPackageSettings(session)).videoModel(modelId)
    },
    toOptions(work) {
      const resolution = chooseResolution(work.resolution, ['480p', '720p', '1080p'])
      return resolution === null ? {} : { providerOptions: { xai: { resolution } } }
    },
    readStatus(answer) {
      const progress = readNumber(answer, 'progress')
      return {
        progress: progress === undefined ? undefined : progress / 100,
        seconds: readNumber(answer, 'video', 'duration'),
        isLost: readString(answer, 'status') === 'expired',
        ...(readString(answer, 'status') === 'failed'
          ? {
              failure: {
                message: readString(answer, 'error', 'message'),
                code: readString(answer, 'error', 'code'),
              },
            }
          : {}),
      }
    },
  }),
}
