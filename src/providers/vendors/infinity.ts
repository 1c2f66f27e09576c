import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server of embedding and reranking models. https://github.com/michaelfeil/infinity */
export const infinity: VendorDescriptor = {
  id: 'infinity',
  keys: { prefix: 'INFINITY' },
  wire: {
    defaultBaseUrl: null,
    localSlots: 64,
    onDisconnect: 'stops',
    lacksChat: true,
    operations: ['embedding', 'rerank'],
  },
}
