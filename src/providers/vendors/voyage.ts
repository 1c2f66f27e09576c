import { createVoyageProvider } from '../ai-sdk/text/text-providers.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const voyage: VendorDescriptor = {
  id: 'voyage',
  keys: { prefix: 'VOYAGE' },
  adapters: [createVoyageProvider],
}
