import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Scaleway Generative APIs. https://www.scaleway.com/en/docs/generative-apis/api-cli/using-chat-api/ */
export const scaleway: VendorDescriptor = {
  id: 'scaleway',
  keys: { prefix: 'SCALEWAY' },
  wire: {
    defaultBaseUrl: 'https://api.scaleway.ai/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}
