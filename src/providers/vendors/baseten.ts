import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Model APIs of Baseten. A dedicated deployment has an address of its own. https://docs.baseten.co/inference/model-apis/overview */
export const baseten: VendorDescriptor = {
  id: 'baseten',
  keys: { prefix: 'BASETEN' },
  wire: {
    defaultBaseUrl: 'https://inference.baseten.co/v1',
    lacksDeveloperRole: true,
  },
}
