import { EVERY_OPERATION, templateSwitch } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server. */
export const vllm: VendorDescriptor = {
  id: 'vllm',
  keys: { prefix: 'VLLM' },
  wire: {
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 64,
    onDisconnect: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: templateSwitch,
  },
}
