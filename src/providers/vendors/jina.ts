import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const jina: VendorDescriptor = {
  id: 'jina',
  keys: { prefix: 'JINA' },
  wire: {
    defaultBaseUrl: 'https://api.jina.ai/v1',
    lacksChat: true,
    operations: ['rerank'],
  },
}
