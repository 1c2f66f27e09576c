import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const minimax: VendorDescriptor = {
  id: 'minimax',
  keys: { prefix: 'MINIMAX' },
  wire: {
    defaultBaseUrl: 'https://api.minimax.io/v1',
    lacksDeveloperRole: true,
    thinkMembers: () => ({ reasoning_split: true }),
  },
  media: {
    video: { load: async () => (await import('../ai-sdk/media/vendors/minimax-vendor.ts')).minimaxVideos },
  },
}
