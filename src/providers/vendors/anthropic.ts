import { createAnthropicProvider } from '../ai-sdk/anthropic-provider.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Claude. Its chat is translated, its own wire passes as it is. */
export const anthropic: VendorDescriptor = {
  id: 'anthropic',
  keys: { prefix: 'ANTHROPIC' },
  lacksChoices: true,
  // Its price list has the same factors for nearly every Claude.
  cachePrices: { read: 10n, write: 125n, hourWrite: 200n },
  wire: {
    defaultBaseUrl: 'https://api.anthropic.com/v1',
    whenLeft: 'streams stop',
    lacksChat: true,
    wires: ['anthropic-messages'],
    countsMessageTokens: true,
    credentialHeader: 'x-api-key',
  },
  adapters: [createAnthropicProvider],
}
