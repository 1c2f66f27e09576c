import { EVERY_OPERATION, reasoningEffort } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server. */
export const ollama: VendorDescriptor = {
  id: 'ollama',
  keys: { prefix: 'OLLAMA' },
  wire: {
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    onDisconnect: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: reasoningEffort,
  },
}
