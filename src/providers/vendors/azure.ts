import { reasoningEffort } from '../openai-compatible/upstream.ts'
import { halfPrice } from '../batch/create-batch-api.ts'
import { entraSignIn } from '../sign-in/entra-sign-in.ts'
import type { VendorDescriptor } from '../vendor-descriptor.ts'

/**
 * Azure OpenAI and Foundry, by the v1 API. The names of models are those of deployments.
 * https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 * Nothing says that a closed request is not billed.
 */
export const azure: VendorDescriptor = {
  id: 'azure',
  keys: { prefix: 'AZURE_OPENAI' },
  traceName: 'azure.ai.openai',
  signIn: entraSignIn,
  batches: halfPrice('azure'),
  // https://learn.microsoft.com/rest/api/azureopenai/models/list tells models, and only the management API deployments.
  lacksModelList: 'Azure tells no key the names of deployments, which routes need',
  wire: {
    defaultBaseUrl: 'https://{resource}.openai.azure.com/openai/v1',
    onDisconnect: 'continues',
    operations: ['embedding'],
    outputLimitMember: 'max_completion_tokens',
    wires: ['openai-responses'],
    takenMembers: ['prediction'],
    thinkMembers: reasoningEffort,
  },
}
