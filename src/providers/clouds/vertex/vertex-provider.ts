import type { AiSdkProviderOptions } from '../../ai-sdk/lazy-provider.ts'
import type { Provider } from '../../provider.ts'
import { requireCloudOptions } from '../cloud-options.ts'
import { createCloudProvider } from '../cloud-provider.ts'
import { createClaudeOnVertex } from './claude-on-vertex.ts'
import { isClaude, isOfPublisher } from './vertex-models.ts'

/**
 * Models of Google Vertex AI at one address, which is that of a project in a location: Gemini by Google's wire, Claude by Anthropic's,
 * models of other publishers by OpenAI's.
 */
export function createVertexProvider(given: AiSdkProviderOptions): Provider & { close(): Promise<void> } {
  const options = requireCloudOptions(given)
  return createCloudProvider(options, {
    openAi: {
      // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/llama/use-llama
      form: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi',
      path: '/endpoints/openapi',
      nameOf: (upstreamModel) => (isOfPublisher(upstreamModel) ? upstreamModel : null),
    },
    isClaude,
    createMessages: createClaudeOnVertex,
    loadVendors: async () => {
      const [{ createClaudeVendor }, { createGeminiVendor }] = await Promise.all([
        import('./claude-vendor.ts'),
        import('./gemini-vendor.ts'),
      ])
      return { claude: createClaudeVendor(options), others: createGeminiVendor(options) }
    },
    loadEmbeddings: async () => (await import('./vertex-embeddings.ts')).createVertexEmbeddings(options),
  })
}
