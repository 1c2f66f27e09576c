import { thinkingEnabled } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const moonshot: VendorDescriptor = {
  id: 'moonshot',
  keys: { prefix: 'MOONSHOT' },
  traceName: 'moonshot_ai',
  wire: {
    defaultBaseUrl: 'https://api.moonshot.ai/v1',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
}
