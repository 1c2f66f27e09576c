import type { VendorDescriptor } from '../vendor-descriptor.ts'

const load = () => import('../ai-sdk/media/vendors/xai-vendor.ts')

export const xai: VendorDescriptor = {
  id: 'xai',
  keys: { prefix: 'XAI' },
  traceName: 'x_ai',
  wire: {
    defaultBaseUrl: 'https://api.x.ai/v1',
    onDisconnect: 'streams stop',
    hasLegacyCompletion: true,
    thinkMembers: (body) => (body.reasoning_effort ? { reasoning_effort: body.reasoning_effort } : {}),
  },
  media: {
    image: { load: async () => (await load()).xaiImages },
    video: { load: async () => (await load()).xaiVideos },
  },
}
