import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/fal/fal-vendor.ts')

export const fal: VendorDescriptor = {
  id: 'fal',
  keys: { prefix: 'FAL', apiKey: ['FAL_API_KEY', 'FAL_KEY'] },
  media: {
    image: { load: async () => (await load()).falImages },
    video: { load: async () => (await load()).falVideos },
    upscale: { load: async () => (await load()).falUpscales },
    backgroundRemoval: { load: async () => (await load()).falBackgroundRemovals },
  },
}
