import type { VendorDescriptor } from '../vendor-descriptor.ts'

/** Novita AI. https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion */
export const novita: VendorDescriptor = {
  id: 'novita',
  keys: { prefix: 'NOVITA' },
  wire: {
    defaultBaseUrl: 'https://api.novita.ai/openai/v1',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
  },
}
