import { systemClock } from '../../../kernel/clock.ts'
import { loadOnce } from '../../ai-sdk/load-once.ts'
import { ringOptionsOf, type AiSdkProviderOptions } from '../../ai-sdk/lazy-provider.ts'
import { createCredentialRing } from '../../connection/credential-ring.ts'
import { createOpenAiCompatibleProvider } from '../../openai-compatible/openai-compatible.ts'
import { createWireClient } from '../../openai-compatible/wire-client.ts'
import type { InferenceOperation, Provider } from '../../provider.ts'
import type { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import { requireCloudOptions } from '../cloud-options.ts'
import { idOfModel, isClaude, isOpenAi } from './bedrock-models.ts'
import { createClaudeOnBedrock } from './claude-on-bedrock.ts'

/**
 * Models of Amazon Bedrock at one address, which is that of a region. Claude is called by Anthropic's wire, models of OpenAI by
 * OpenAI's, and all other chat models by Converse.
 */
export function createBedrockProvider(given: AiSdkProviderOptions): Provider & { close(): Promise<void> } {
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
    baseUrl: `${baseUrl}/openai/v1`,
  })
  const loadChat = loadOnce(async () => {
    const [{ createAiSdkChat }, { createClaudeVendor }, { createConverseVendor }] = await Promise.all([
      import('../../ai-sdk/ai-sdk-chat.ts'),
      import('./claude-vendor.ts'),
      import('./converse/converse-vendor.ts'),
    ])
    return {
      claude: createAiSdkChat(createClaudeVendor(options), options),
      converse: createAiSdkChat(createConverseVendor(options), options),
    }
  })
  const embedding = loadOnce(async (): Promise<InferenceOperation<EmbeddingRequest>> => {
    const [{ createEmbeddingOperation }, { createBedrockEmbeddings }] = await Promise.all([
      import('../../ai-sdk/text/embedding-operation.ts'),
      import('./bedrock-embeddings.ts'),
    ])
    return createEmbeddingOperation(createBedrockEmbeddings(options), options)
  })
  const { chat } = openAi
  return {
    id,
    isConfigured: true,
    // Nothing says that a request whose connection is closed is not billed to its end.
    onDisconnect: 'continues',
    chat: async (call) => {
      const { upstreamModel } = call
      if (chat !== undefined && isOpenAi(upstreamModel))
        return chat({ ...call, upstreamModel: idOfModel(upstreamModel) })
      const { claude, converse } = await loadChat()
      return isClaude(upstreamModel) ? claude(call) : converse(call)
    },
    embedding: async (call) => (await embedding())(call),
    native: { 'anthropic-messages': createClaudeOnBedrock(id, client) },
    isNative: isClaude,
    close: async () => {
      await client.close()
      await openAi.close()
    },
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html */
const OPENAI_FORM = 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1'
