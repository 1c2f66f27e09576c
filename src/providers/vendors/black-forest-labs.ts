import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/vendors/black-forest-labs-vendor.ts')

export const blackForestLabs: VendorDescriptor = {
  id: 'black-forest-labs',
  keys: { prefix: 'BFL' },
  media: {
    image: { load: async () => (await load()).blackForestLabsImages },
    video: { load: async () => (await load()).blackForestLabsVideos },
  },
}
