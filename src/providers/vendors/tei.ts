import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Text Embeddings Inference, self-hosted. Its `/rerank` has a form of its own. https://huggingface.co/docs/text-embeddings-inference/quick_tour */
export const tei: VendorDescriptor = {
  id: 'tei',
  keys: { prefix: 'TEI' },
  wire: {
    defaultBaseUrl: null,
    localSlots: 64,
    onDisconnect: 'stops',
    lacksChat: true,
    operations: ['embedding'],
  },
}
