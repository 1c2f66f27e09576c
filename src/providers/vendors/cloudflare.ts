import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Cloudflare Workers AI. https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/ */
export const cloudflare: VendorDescriptor = {
  id: 'cloudflare',
  keys: { prefix: 'CLOUDFLARE', apiKey: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'] },
  wire: {
    defaultBaseUrl: 'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}
