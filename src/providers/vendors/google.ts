import { createGoogleProvider } from '../ai-sdk/vendors/google-provider.ts'
import { createGoogleEmbeddingProvider } from '../ai-sdk/text/text-providers.ts'
import { halfPrice } from '../batch/create-batch-api.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/google/google-media-vendor.ts')

/** Gemini, Imagen, Veo. */
export const google: VendorDescriptor = {
  id: 'google',
  keys: { prefix: 'GOOGLE', apiKey: ['GOOGLE_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'] },
  batches: halfPrice('google'),
  traceName: 'gcp.gemini',
  lacksChoices: true,
  modelList: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
    path: '/models?pageSize=1000',
  },
  adapters: [createGoogleProvider, createGoogleEmbeddingProvider],
  media: {
    image: { load: async () => (await load()).googleImages },
    video: { load: async () => (await load()).googleVideos },
  },
}
