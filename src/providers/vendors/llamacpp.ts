import { EVERY_OPERATION, templateSwitch } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server. */
export const llamacpp: VendorDescriptor = {
  id: 'llamacpp',
  keys: { prefix: 'LLAMACPP' },
  wire: {
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    onDisconnect: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: templateSwitch,
  },
}
