import { thinkingEnabled } from '../openai-compatible/upstream.ts'
import { readDeepSeekBalance } from '../vendor-account/read-balances.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const deepseek: VendorDescriptor = {
  id: 'deepseek',
  keys: { prefix: 'DEEPSEEK' },
  account: { readBalance: readDeepSeekBalance },
  wire: {
    defaultBaseUrl: 'https://api.deepseek.com/v1',
    onDisconnect: 'streams stop',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
}
