import { readOpenRouterBalance } from '../vendor-account/read-balances.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const openrouter: VendorDescriptor = {
  id: 'openrouter',
  keys: { prefix: 'OPENROUTER' },
  account: { readBalance: readOpenRouterBalance },
  wire: {
    defaultBaseUrl: 'https://openrouter.ai/api/v1',
    onDisconnect: 'streams stop',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    wires: ['anthropic-messages', 'openai-responses'],
    // Shortens prompts that are too long, which lowers the cost.
    takenMembers: ['transforms'],
    thinkMembers: () => ({ reasoning: { enabled: true } }),
  },
}
