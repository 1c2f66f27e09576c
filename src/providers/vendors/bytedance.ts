import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/vendors/bytedance-vendor.ts')

export const bytedance: VendorDescriptor = {
  id: 'bytedance',
  keys: { prefix: 'BYTEDANCE', apiKey: ['ARK_API_KEY', 'BYTEDANCE_API_KEY'] },
  media: {
    image: { load: async () => (await load()).bytedanceImages },
    video: { load: async () => (await load()).bytedanceVideos },
  },
}
