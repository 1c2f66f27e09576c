import { reasoningEffort } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const cerebras: VendorDescriptor = {
  id: 'cerebras',
  keys: { prefix: 'CEREBRAS' },
  wire: {
    defaultBaseUrl: 'https://api.cerebras.ai/v1',
    outputLimitMember: 'max_completion_tokens',
    lacksDeveloperRole: true,
    thinkMembers: reasoningEffort,
  },
}
