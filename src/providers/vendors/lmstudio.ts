import { EVERY_OPERATION, reasoningEffort } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server. */
export const lmstudio: VendorDescriptor = {
  id: 'lmstudio',
  keys: { prefix: 'LMSTUDIO' },
  wire: {
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    onDisconnect: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: reasoningEffort,
  },
}
