import { GROQ_VOICES } from '../openai-compatible/voices.ts'
import { halfPrice } from '../batch/create-batch-api.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

export const groq: VendorDescriptor = {
  id: 'groq',
  keys: { prefix: 'GROQ' },
  batches: halfPrice('groq'),
  wire: {
    defaultBaseUrl: 'https://api.groq.com/openai/v1',
    operations: ['speech', 'transcription'],
    voices: GROQ_VOICES,
    outputLimitMember: 'max_completion_tokens',
    thinkMembers: () => ({ include_reasoning: true }),
  },
}
