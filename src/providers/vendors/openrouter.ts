import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const openrouter: VendorDescriptor = {
  id: 'openrouter',
  keys: { prefix: 'OPENROUTER' },
  wire: {
    defaultBaseUrl: 'https://openrouter.ai/api/v1',
    whenLeft: 'streams stop',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    wires: ['anthropic-messages', 'openai-responses'],
    // Shortens a prompt that is too long, which costs less.
    takenMembers: ['transforms'],
    thinkMembers: () => ({ reasoning: { enabled: true } }),
  },
}
