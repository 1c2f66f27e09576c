import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Hyperbolic. https://docs.hyperbolic.ai/inference/text-apis */
export const hyperbolic: VendorDescriptor = {
  id: 'hyperbolic',
  keys: { prefix: 'HYPERBOLIC' },
  wire: {
    defaultBaseUrl: 'https://api.hyperbolic.xyz/v1',
    lacksDeveloperRole: true,
  },
}
