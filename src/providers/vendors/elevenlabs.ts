import { createElevenLabsProvider } from '../ai-sdk/audio/audio-providers.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const elevenlabs: VendorDescriptor = {
  id: 'elevenlabs',
  keys: { prefix: 'ELEVENLABS' },
  lacksSpeechInstructions: true,
  adapters: [createElevenLabsProvider],
}
