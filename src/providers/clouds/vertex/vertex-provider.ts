import { systemClock } from '../../../kernel/clock.ts'
import type { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import { loadOnce } from '../../ai-sdk/load-once.ts'
import { ringOptionsOf, type AiSdkProviderOptions } from '../../ai-sdk/lazy-provider.ts'
import { createCredentialRing } from '../../connection/credential-ring.ts'
import { createOpenAiCompatibleProvider } from '../../openai-compatible/openai-compatible.ts'
import { createWireClient } from '../../openai-compatible/wire-client.ts'
import type { InferenceOperation, Provider } from '../../provider.ts'
import { requireCloudOptions } from '../cloud-options.ts'
import { createClaudeOnVertex } from './claude-on-vertex.ts'
import { isClaude, isOfPublisher } from './vertex-models.ts'

/**
 * Models of Google Vertex AI at one address, which is that of a project in a location: Gemini by Google's wire, Claude by Anthropic's,
 * models of other publishers by OpenAI's.
 */
export function createVertexProvider(given: AiSdkProviderOptions): Provider & { close(): Promise<void> } {
  const options = requireCloudOptions(given)
  const { id, apiKeys, clock = systemClock, headers = [], baseUrl, signIn } = options
  const shared = {
    credentials: createCredentialRing(apiKeys, { ...ringOptionsOf(options), provider: id, clock }),
    headers,
    connectTimeoutMs: options.connectTimeoutMs,
    path: options.path,
    signIn,
  }
  const client = createWireClient({ ...shared, provider: id, baseUrl })
  const openAi = createOpenAiCompatibleProvider({
    ...shared,
    upstream: { id, defaultBaseUrl: OPENAI_FORM },
    baseUrl: `${baseUrl}/endpoints/openapi`,
  })
  const loadChat = loadOnce(async () => {
    const [{ createAiSdkChat }, { createClaudeVendor, createGeminiVendor }] = await Promise.all([
      import('../../ai-sdk/ai-sdk-chat.ts'),
      import('./vertex-vendors.ts'),
    ])
    return {
      claude: createAiSdkChat(createClaudeVendor(options), options),
      gemini: createAiSdkChat(createGeminiVendor(options), options),
    }
  })
  const embedding = loadOnce(async (): Promise<InferenceOperation<EmbeddingRequest>> => {
    const [{ createEmbeddingOperation }, { createVertexEmbeddings }] = await Promise.all([
      import('../../ai-sdk/text/embedding-operation.ts'),
      import('./vertex-embeddings.ts'),
    ])
    return createEmbeddingOperation(createVertexEmbeddings(options), options)
  })
  const { chat } = openAi
  return {
    id,
    isConfigured: true,
    // Nothing says that a request whose connection is closed is not billed to its end.
    onDisconnect: 'continues',
    chat: async (call) => {
      if (chat !== undefined && isOfPublisher(call.upstreamModel)) return chat(call)
      const { claude, gemini } = await loadChat()
      return isClaude(call.upstreamModel) ? claude(call) : gemini(call)
    },
    embedding: async (call) => (await embedding())(call),
    native: { 'anthropic-messages': createClaudeOnVertex(id, client) },
    isNative: isClaude,
    close: async () => {
      await client.close()
      await openAi.close()
    },
  }
}

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/llama/use-llama */
const OPENAI_FORM =
  'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/endpoints/openapi'
