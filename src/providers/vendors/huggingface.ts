import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Hugging Face Inference Providers. https://huggingface.co/docs/inference-providers/index */
export const huggingface: VendorDescriptor = {
  id: 'huggingface',
  keys: { prefix: 'HUGGINGFACE' },
  wire: {
    defaultBaseUrl: 'https://router.huggingface.co/v1',
    lacksDeveloperRole: true,
  },
}
