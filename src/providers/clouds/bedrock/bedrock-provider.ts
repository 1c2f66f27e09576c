import type { AiSdkProviderOptions } from '../../ai-sdk/lazy-provider.ts'
import type { Provider } from '../../provider.ts'
import { requireCloudOptions } from '../cloud-options.ts'
import { createCloudProvider } from '../cloud-provider.ts'
import { idOfModel, isClaude, isOpenAi } from './bedrock-models.ts'
import { createClaudeOnBedrock } from './claude-on-bedrock.ts'

/**
 * Models of Amazon Bedrock at one address, which is that of a region. Claude is called by Anthropic's wire, models of OpenAI by
 * OpenAI's, and all other chat models by Converse.
 */
export function createBedrockProvider(given: AiSdkProviderOptions): Provider & { close(): Promise<void> } {
  const options = requireCloudOptions(given)
  return createCloudProvider(options, {
    openAi: {
      // https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html
      form: 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
      path: '/openai/v1',
      nameOf: (upstreamModel) => (isOpenAi(upstreamModel) ? idOfModel(upstreamModel) : null),
    },
    isClaude,
    createMessages: createClaudeOnBedrock,
    loadVendors: async () => {
      const [{ createClaudeVendor }, { createConverseVendor }] = await Promise.all([
        import('./claude-vendor.ts'),
        import('./converse/converse-vendor.ts'),
      ])
      return { claude: createClaudeVendor(options), others: createConverseVendor(options) }
    },
    loadEmbeddings: async () => (await import('./bedrock-embeddings.ts')).createBedrockEmbeddings(options),
  })
}
