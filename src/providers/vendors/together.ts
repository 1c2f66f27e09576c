import { templateSwitch } from '../openai-compatible/upstream.ts'
import { wholePrice } from '../batch/create-batch-api.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const together: VendorDescriptor = {
  id: 'together',
  keys: { prefix: 'TOGETHER', apiKey: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'] },
  batches: wholePrice('together'),
  wire: {
    defaultBaseUrl: 'https://api.together.xyz/v1',
    onDisconnect: 'streams stop',
    operations: ['embedding', 'rerank', 'speech', 'transcription'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
    thinkMembers: templateSwitch,
  },
  media: {
    image: { load: async () => (await import('../ai-sdk/media/vendors/together-vendor.ts')).togetherImages },
  },
}
