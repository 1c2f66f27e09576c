import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** SambaNova Cloud. https://docs.sambanova.ai/docs/en/features/openai-compatibility */
export const sambanova: VendorDescriptor = {
  id: 'sambanova',
  keys: { prefix: 'SAMBANOVA' },
  wire: {
    defaultBaseUrl: 'https://api.sambanova.ai/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}
