import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/vendors/replicate-vendor.ts')

export const replicate: VendorDescriptor = {
  id: 'replicate',
  keys: { prefix: 'REPLICATE', apiKey: ['REPLICATE_API_TOKEN', 'REPLICATE_API_KEY'] },
  // It prices these models by their output.
  refundsCancelled: true,
  media: {
    image: { load: async () => (await load()).replicateImages },
    video: { load: async () => (await load()).replicateVideos },
  },
}
