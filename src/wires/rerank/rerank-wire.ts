import { openAiWire } from '../openai-chat/openai-wire.ts'
import type { Wire } from '../wire.ts'

/** Cohere's API. Its clients read the message of an error beside the envelope of the gateway. */
export const rerankWire: Wire = {
  ...openAiWire,
  id: 'rerank',
  formatError: (error) => ({
    id: error.requestId,
    message: error.message,
    ...openAiWire.formatError(error),
  }),
}
