import { createDeepgramProvider } from '../ai-sdk/audio/audio-providers.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const deepgram: VendorDescriptor = {
  id: 'deepgram',
  keys: { prefix: 'DEEPGRAM' },
  lacksSpeechInstructions: true,
  adapters: [createDeepgramProvider],
}
