import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Nebius Token Factory. https://docs.tokenfactory.nebius.com/api-reference/introduction */
export const nebius: VendorDescriptor = {
  id: 'nebius',
  keys: { prefix: 'NEBIUS' },
  wire: {
    defaultBaseUrl: 'https://api.tokenfactory.nebius.com/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
  },
}
