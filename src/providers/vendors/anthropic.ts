import { createAnthropicProvider } from '../ai-sdk/vendors/anthropic-provider.ts'
import { halfPrice } from '../batch/create-batch-api.ts'
import { readAnthropicCosts } from '../vendor-account/anthropic-costs.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Claude. Chat requests are translated. Requests in Anthropic's own wire are forwarded. */
export const anthropic: VendorDescriptor = {
  id: 'anthropic',
  keys: { prefix: 'ANTHROPIC' },
  account: { readCosts: readAnthropicCosts },
  batches: halfPrice('anthropic'),
  lacksChoices: true,
  // Nearly all Claude models have the same factors in Anthropic's price list.
  cachePrices: { read: 10n, write: 125n, hourWrite: 200n },
  modelList: {
    baseUrl: 'https://api.anthropic.com/v1',
    keyHeader: 'x-api-key',
    headers: ['anthropic-version', '2023-06-01'],
    path: '/models?limit=1000',
  },
  wire: {
    defaultBaseUrl: 'https://api.anthropic.com/v1',
    onDisconnect: 'streams stop',
    lacksChat: true,
    wires: ['anthropic-messages'],
    countsMessageTokens: true,
    readsBillingLine: true,
    credentialHeader: 'x-api-key',
  },
  adapters: [createAnthropicProvider],
}
