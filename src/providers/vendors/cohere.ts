import { createCohereProvider } from '../ai-sdk/text/text-providers.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const cohere: VendorDescriptor = {
  id: 'cohere',
  keys: { prefix: 'COHERE' },
  adapters: [createCohereProvider],
}
