import { halfPrice } from '../batch/create-batch-api.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const mistral: VendorDescriptor = {
  id: 'mistral',
  keys: { prefix: 'MISTRAL' },
  batches: halfPrice('mistral'),
  traceName: 'mistral_ai',
  wire: {
    defaultBaseUrl: 'https://api.mistral.ai/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
    seedMember: 'random_seed',
    refusedMembers: ['stream_options', 'user', 'logit_bias', 'logprobs', 'top_logprobs'],
    takenMembers: ['prediction'],
    thinkMembers: (body) => ({ reasoning_effort: body.reasoning_effort ?? 'high' }),
  },
}
