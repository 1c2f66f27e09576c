import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** DeepInfra. https://deepinfra.com/docs/advanced/openai_api */
export const deepinfra: VendorDescriptor = {
  id: 'deepinfra',
  keys: { prefix: 'DEEPINFRA', apiKey: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'] },
  wire: {
    defaultBaseUrl: 'https://api.deepinfra.com/v1/openai',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
  },
}
