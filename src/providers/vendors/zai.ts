import { thinkingEnabled } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const zai: VendorDescriptor = {
  id: 'zai',
  keys: { prefix: 'ZAI', apiKey: ['ZAI_API_KEY', 'ZHIPU_API_KEY'] },
  wire: {
    defaultBaseUrl: 'https://api.z.ai/api/paas/v4',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
}
