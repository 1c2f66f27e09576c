import { createAssemblyAiProvider } from '../ai-sdk/audio/audio-providers.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const assemblyai: VendorDescriptor = {
  id: 'assemblyai',
  keys: { prefix: 'ASSEMBLYAI' },
  adapters: [createAssemblyAiProvider],
}
