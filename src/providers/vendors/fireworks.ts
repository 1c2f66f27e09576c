import { reasoningEffort } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const fireworks: VendorDescriptor = {
  id: 'fireworks',
  keys: { prefix: 'FIREWORKS' },
  wire: {
    defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
    onDisconnect: 'streams stop',
    operations: ['embedding', 'rerank'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
    thinkMembers: reasoningEffort,
  },
  media: {
    image: {
      load: async () => (await import('../ai-sdk/media/vendors/fireworks-vendor.ts')).fireworksImages,
    },
  },
}
