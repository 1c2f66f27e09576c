import { createImageModelWire } from '../image-model-wire.ts'
import { toPackageSettings } from '../package-settings.ts'

export const togetherImages = {
  provider: 'together',
  defaultBaseUrl: 'https://api.together.xyz/v1',
  wire: createImageModelWire({
    imagesMax: 4,
    async createModel(session, modelId) {
      const { createTogetherAI } = await import('@ai-sdk/togetherai')
      return createTogetherAI(toPackageSettings(session)).imageModel(modelId)
    },
  }),
}
