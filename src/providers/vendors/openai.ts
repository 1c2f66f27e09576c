import { reasoningEffort } from '../openai-compatible/upstream.ts'
import { OPENAI_VOICES } from '../openai-compatible/voices.ts'
import { halfPrice } from '../batch/create-batch-api.ts'
import { readOpenAiCosts } from '../vendor-account/openai-costs.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const openai: VendorDescriptor = {
  id: 'openai',
  keys: { prefix: 'OPENAI' },
  account: { readCosts: readOpenAiCosts },
  batches: halfPrice('openai'),
  wire: {
    defaultBaseUrl: 'https://api.openai.com/v1',
    onDisconnect: 'streams stop',
    operations: ['embedding', 'moderation', 'image', 'speech', 'transcription'],
    voices: OPENAI_VOICES,
    lacksImageSeed: true,
    hasLegacyCompletion: false,
    outputLimitMember: 'max_completion_tokens',
    wires: ['openai-responses'],
    // Rejected prediction tokens are reported among the completion tokens. A longer cache retention is free.
    takenMembers: ['prediction', 'prompt_cache_retention'],
    thinkMembers: reasoningEffort,
  },
}
