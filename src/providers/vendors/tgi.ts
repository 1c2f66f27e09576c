import { EVERY_OPERATION } from '../openai-compatible/upstream.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** A self-hosted server. */
export const tgi: VendorDescriptor = {
  id: 'tgi',
  keys: { prefix: 'TGI' },
  wire: {
    defaultBaseUrl: null,
    localSlots: 64,
    onDisconnect: 'stops',
    operations: EVERY_OPERATION,
    lacksDeveloperRole: true,
  },
}
