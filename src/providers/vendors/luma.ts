import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/vendors/luma-vendor.ts')

export const luma: VendorDescriptor = {
  id: 'luma',
  keys: { prefix: 'LUMA' },
  media: {
    image: { load: async () => (await load()).lumaImages },
    video: { load: async () => (await load()).lumaVideos },
  },
}
